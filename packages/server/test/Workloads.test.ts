/** Complete agent runs, recorded by a server process and read back. */
import { HttpClient } from "@tachograph/testkit"
import { describe, expect, it } from "vitest"
import { serve, temporaryFolder } from "./TachographProcess.ts"
import { record, title } from "./Workloads.ts"

const apiKey = "a key for the workloads"
const env = { TACHOGRAPH_API_KEY: apiKey }
const open = async (cwd: string) => {
  const server = await serve(["--port", "0", "--storage", "sqlite:runs.db"], { cwd, env })
  return { server, clients: [HttpClient.open(server.url, apiKey)] }
}

describe(`Workloads: ${title}`, () => {
  it("are returned byte for byte from SQLite, before and after a restart", async () => {
    const cwd = temporaryFolder()
    const first = await open(cwd)
    const recorded = await record(first.clients)
    expect(recorded.events).toBeGreaterThanOrEqual(12)
    expect(await recorded.differences(first.clients)).toEqual([])
    expect((await first.server.stop()).code).toBe(0)
    const second = await open(cwd)
    expect(await recorded.differences(second.clients)).toEqual([])
    await second.server.stop()
  })
})
