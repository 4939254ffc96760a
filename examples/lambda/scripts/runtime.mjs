/**
 * What Lambda does with a bundle, no more: loads it, hands it one event after the other, and passes on what it answers. To be
 * forked with the path of the bundle; events and results are messages.
 */
import { pathToFileURL } from "node:url"

const { handler } = await import(pathToFileURL(process.argv[2]).href)
process.on("message", async (event) => process.send(await handler(event)))
process.send("ready")
