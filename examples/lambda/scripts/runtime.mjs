/**
 * A minimal Lambda runtime: loads a bundle, calls its handler for each event and returns the result. Fork it with the path of
 * the bundle; events and results are process messages.
 */
import { pathToFileURL } from "node:url"

const { handler } = await import(pathToFileURL(process.argv[2]).href)
process.on("message", async (event) => process.send(await handler(event)))
process.send("ready")
