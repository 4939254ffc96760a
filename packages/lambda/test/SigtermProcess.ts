/** A function's process: it records to SQLite, and stays alive as an execution environment does between invocations. */
import { sqlite } from "@tachograph/storage-sqlite"
import { createHandler } from "../src/index.ts"
import { eventOf } from "./Events.ts"

const [, , file, key] = process.argv as [string, string, string, string]
const handler = createHandler({ storage: sqlite(file), apiKeys: [key] })
const body = JSON.stringify({ agent_name: "kept" })
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
const request = new Request("http://localhost/api/v1/agents", { method: "PUT", body, headers })
const { statusCode } = await handler(await eventOf("url", request))
setInterval(() => {}, 60_000)
process.stdout.write(`${statusCode}\n`)
