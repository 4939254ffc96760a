/** A server over a SQLite file in a folder of its own, and a client that records on it. */
import { HttpClient } from "@tachograph/testkit"
import { join } from "node:path"
import { expect } from "vitest"
import { runInProcess, startServer } from "./CommandLine.ts"
import { serve, temporaryFolder } from "./TachographProcess.ts"

/** `scope` is that of the client's key. The caller stops the server. */
const recordOn = async <Server extends { readonly url: string }>(
  scope: string,
  start: (cwd: string, storage: string) => Promise<Server>
) => {
  const cwd = temporaryFolder()
  const file = join(cwd, "tachograph.db")
  const storage = `sqlite:${file}`
  const server = await start(cwd, storage)
  const key = (await runInProcess(["keys", "create", "--scope", scope, "--storage", storage])).stdout.trim()
  const client = HttpClient.open(server.url, key)
  const fingerprint = { language: "l", language_version: "v", system: "s" }
  const { fingerprint_id } = (await client.put("/api/v1/fingerprints", fingerprint)).body
  /** Records an event with these fields, and returns the receipt. */
  const record = async (fields: object) => {
    const answer = await client.post("/api/v1/events", { event_name: "llm", fingerprint_id, ...fields })
    expect(answer.status).toBe(200)
    return answer.body as { readonly event_id: string; readonly received_at: string }
  }
  return { client, cwd, file, key, record, server, storage }
}

/** In a process of its own. */
export const serveAndRecord = (scope: string) => recordOn(scope, (cwd) => serve(["--port", "0"], { cwd }))

/** In this process, until the end of the test if it is not stopped before. */
export const serveAndRecordInProcess = (scope: string) =>
  recordOn(scope, (_, storage) => startServer(["--storage", storage, "--thread", "no"]))
