import { HttpClient } from "@tachograph/testkit"
import { join } from "node:path"
import { describe, expect, it, vi } from "vitest"
import { runInProcess, serveInProcess, startInProcess } from "../CommandLine.ts"
import { serveAndRecord, serveAndRecordInProcess } from "../RecordingServer.ts"
import { serve, start, temporaryFolder } from "../TachographProcess.ts"

const properties = { api: "provider2-messages", inputs: { model: "claude", messages: [] }, output: {} }
const failed = { ...properties, output: { type: "error", error: { type: "overloaded_error", message: "busy" } } }

type Recording = Pick<Awaited<ReturnType<typeof serveAndRecord>>, "client" | "record">

/** A cursor of the stream before the first event, and what records calls. */
const begin = async ({ client, record }: Recording) => {
  const { next_cursor: cursor } = (await client.get("/api/v1/events/stream?wait=0")).body
  return { cursor, record: async (fields: object) => (await record({ properties, ...fields })).event_id }
}

/** Waits until a command has printed `count` lines, and returns them. */
const lines = ({ output }: { readonly output: () => { readonly stdout: string } }, count: number) =>
  vi.waitFor(
    () => {
      const printed = output().stdout.split("\n").slice(0, -1)
      expect(printed).toHaveLength(count)
      return printed
    },
    { timeout: 60_000, interval: 20 }
  )

describe("tachograph tail", () => {
  it("prints each call once, and goes on when the server was restarted", async () => {
    const served = await serveAndRecord("admin")
    const { cwd, key, server } = served
    const { cursor, record } = await begin(served)
    const env = { TACHOGRAPH_API_KEY: key }
    const all = startInProcess(["tail", "--url", server.url, "--cursor", cursor, "--json"], env)
    const errors = startInProcess(["tail", "--url", server.url, "--cursor", cursor, "--errors"], env)
    const recorded = [await record({ session: "one" }), await record({ session: "two", properties: failed })]
    await lines(all, 2)
    const [error] = await lines(errors, 1)
    expect(error).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}default default {2}two .*failed: overloaded_error: busy {2}[0-9a-f-]{36}$/
    )
    // It does not wait for the streams, which have no end.
    expect((await server.stop()).code).toBe(0)
    const again = await serve(["--port", new URL(server.url).port], { cwd })
    recorded.push(await record({ session: "three", agent: "bot\u001b[31m" }))
    const events = (await lines(all, 3)).map((line) => JSON.parse(line))
    expect(events.map(({ event_id }) => event_id)).toEqual(recorded)
    expect(events[2]).toMatchObject({ session: "three", cursor: expect.stringMatching(/^c1_/) })
    expect(await lines(errors, 1)).toEqual([error])
    await again.stop()
  })

  it("follows a storage that a server writes", async () => {
    const served = await serveAndRecordInProcess("admin")
    const { cursor, record } = await begin(served)
    await record({ session: "one", agent: "bot\u001b[31m" })
    const printed = start(["tail", "--cursor", cursor, "--agent", "bot\u001b[31m"], { cwd: served.cwd })
    await lines(printed, 1)
    await record({ session: "two" })
    await record({ session: "three", agent: "bot\u001b[31m" })
    expect((await lines(printed, 2))[1]).toContain("bot\\u{1b}[31m default  three  claude")
    printed.child.kill("SIGINT")
    const { signal, code, stderr } = await printed.finished
    expect(stderr).toBe("")
    expect([code, signal]).not.toEqual([1, null])
  })

  it("ends when its key is revoked", async () => {
    const storage = ["--storage", `sqlite:${join(temporaryFolder(), "tachograph.db")}`]
    const created = await runInProcess(["keys", "create", "--scope", "admin", ...storage])
    const key = created.stdout.trim()
    const url = await serveInProcess([...storage, "--thread", "no"], "300 millis")
    const client = HttpClient.open(url, key)
    const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "v", system: "s" })
    const { next_cursor: cursor } = (await client.get("/api/v1/events/stream?wait=0")).body
    const env = { TACHOGRAPH_API_KEY: key }
    const printed = startInProcess(["tail", "--url", url, "--cursor", cursor], env)
    await client.post("/api/v1/events", {
      event_name: "llm",
      fingerprint_id: body.fingerprint_id,
      session: "s",
      properties
    })
    await lines(printed, 1)
    await runInProcess(["keys", "revoke", /key_\w+/.exec(created.stderr)![0], ...storage], env)
    const { code, stderr } = await printed.finished()
    expect([code, stderr]).toEqual([1, "tachograph: The server refuses the key in TACHOGRAPH_API_KEY\n"])
  })

  it("says why it cannot begin", async () => {
    const storage = `sqlite:${join(temporaryFolder(), "tachograph.db")}`
    await runInProcess(["keys", "create", "--storage", storage])
    const { stderr: invalid } = await runInProcess(["tail", "--cursor", "none", "--storage", storage])
    expect(invalid).toContain("cursor: Value error, not a cursor of this server")
    const { code, stderr } = await runInProcess(["tail", "--url", "http://127.0.0.1:2"])
    expect([code, stderr.trimEnd().split("\n").length]).toEqual([1, 1])
    expect(stderr).toContain("ECONNREFUSED")
  })
})
