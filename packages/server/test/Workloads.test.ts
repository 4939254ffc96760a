/** Complete agent runs, recorded by a server process and read back. */
import { HttpClient, Replay } from "@tachograph/testkit"
import { describe, expect, it } from "vitest"
import { serve, temporaryFolder } from "./TachographProcess.ts"
import { title, workloads } from "./Workloads.ts"

const apiKey = "a key for the workloads"
const env = { TACHOGRAPH_API_KEY: apiKey }
const open = async (storage: string, cwd: string) => {
  const server = await serve(["--port", "0", "--storage", storage], { cwd, env })
  return { server, client: HttpClient.make(HttpClient.at(server.url), apiKey) }
}

const sendAll = async (client: HttpClient.Client) => {
  const fingerprint = { language: "typescript", language_version: "7", system: "linux" }
  const { body } = await client.put("/api/v1/fingerprints", fingerprint)
  const sent: Array<Replay.Sent> = []
  for (const bodies of Object.values(workloads)) sent.push(...(await Replay.send(client, bodies(body.fingerprint_id))))
  return sent
}

describe(`Workloads: ${title}`, () => {
  it("are returned byte for byte from SQLite, before and after a restart", async () => {
    const cwd = temporaryFolder()
    const first = await open("sqlite:runs.db", cwd)
    const sent = await sendAll(first.client)
    expect(sent.length).toBeGreaterThanOrEqual(12)
    expect(await Replay.differences(first.client, sent)).toEqual([])
    expect((await first.server.stop()).code).toBe(0)
    const second = await open("sqlite:runs.db", cwd)
    expect(await Replay.differences(second.client, sent)).toEqual([])
    await second.server.stop()
  })

  it("are returned byte for byte from memory", async () => {
    const { client, server } = await open("memory:", temporaryFolder())
    const sent = await sendAll(client)
    expect(await Replay.differences(client, sent)).toEqual([])
    await server.stop()
  })
})
