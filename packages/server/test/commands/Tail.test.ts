import { HttpClient } from "@tachograph/testkit"
import { join } from "node:path"
import { describe, expect, it, vi } from "vitest"
import { runInProcess, serveInProcess } from "../CommandLine.ts"
import { serveAndRecord } from "../RecordingServer.ts"
import { serve, start, temporaryFolder } from "../TachographProcess.ts"

const properties = { api: "provider2-messages", inputs: { model: "claude", messages: [] }, output: {} }
const failed = { ...properties, output: { type: "error", error: { type: "overloaded_error", message: "busy" } } }

/** A server, a client of it, and a cursor of the stream before the first event. */
const served = async () => {
  const { client, cwd, key, record, server, storage } = await serveAndRecord("admin")
  const { next_cursor: cursor } = (await client.get("/api/v1/events/stream?wait=0")).body
  const recordCall = async (fields: object) => (await record({ properties, ...fields })).event_id
  return { cursor, cwd, key, record: recordCall, server, storage }
}

/** Runs `tail`. `lines` waits until it has printed `count` lines, and returns them. */
const tail = (args: ReadonlyArray<string>, options: Parameters<typeof start>[1]) => {
  const { child, finished, output } = start(["tail", ...args], options)
  const linesOf = () => output().stdout.split("\n").slice(0, -1)
  return {
    finished,
    lines: (count: number) =>
      vi.waitFor(
        () => {
          expect(linesOf()).toHaveLength(count)
          return linesOf()
        },
        { timeout: 60_000, interval: 20 }
      ),
    stop: () => {
      child.kill("SIGINT")
      return finished
    }
  }
}

describe("tachograph tail", () => {
  it("prints each call once, and goes on when the server was restarted", async () => {
    const { cursor, cwd, key, record, server } = await served()
    const env = { TACHOGRAPH_API_KEY: key }
    const all = tail(["--url", server.url, "--cursor", cursor, "--json"], { cwd, env })
    const errors = tail(["--url", server.url, "--cursor", cursor, "--errors"], { cwd, env })
    const recorded = [await record({ session: "one" }), await record({ session: "two", properties: failed })]
    await all.lines(2)
    const [error] = await errors.lines(1)
    expect(error).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}default default {2}two .*failed: overloaded_error: busy {2}[0-9a-f-]{36}$/
    )
    // It does not wait for the streams, which have no end.
    expect((await server.stop()).code).toBe(0)
    const again = await serve(["--port", new URL(server.url).port], { cwd })
    recorded.push(await record({ session: "three", agent: "bot\u001b[31m" }))
    const events = (await all.lines(3)).map((line) => JSON.parse(line))
    expect(events.map(({ event_id }) => event_id)).toEqual(recorded)
    expect(events[2]).toMatchObject({ session: "three", cursor: expect.stringMatching(/^c1_/) })
    expect(await errors.lines(1)).toEqual([error])
    await Promise.all([all.stop(), errors.stop()])
    await again.stop()
  })

  it("follows a storage that a server writes", async () => {
    const { cursor, cwd, record, server } = await served()
    await record({ session: "one", agent: "bot\u001b[31m" })
    const printed = tail(["--cursor", cursor, "--agent", "bot\u001b[31m"], { cwd })
    await printed.lines(1)
    await record({ session: "two" })
    await record({ session: "three", agent: "bot\u001b[31m" })
    expect((await printed.lines(2))[1]).toContain("bot\\u{1b}[31m default  three  claude")
    const { signal, code, stderr } = await printed.stop()
    expect(stderr).toBe("")
    expect([code, signal]).not.toEqual([1, null])
    await server.stop()
  })

  it("ends when its key is revoked", async () => {
    const storage = ["--storage", `sqlite:${join(temporaryFolder(), "tachograph.db")}`]
    const created = await runInProcess(["keys", "create", "--scope", "admin", ...storage])
    const key = created.stdout.trim()
    const url = await serveInProcess(storage, "300 millis")
    const client = HttpClient.open(url, key)
    const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "v", system: "s" })
    const { next_cursor: cursor } = (await client.get("/api/v1/events/stream?wait=0")).body
    const printed = tail(["--url", url, "--cursor", cursor], { env: { TACHOGRAPH_API_KEY: key } })
    await client.post("/api/v1/events", {
      event_name: "llm",
      fingerprint_id: body.fingerprint_id,
      session: "s",
      properties
    })
    await printed.lines(1)
    await runInProcess(["keys", "revoke", /key_\w+/.exec(created.stderr)![0], ...storage])
    const { code, stderr } = await printed.finished
    expect([code, stderr]).toEqual([1, "tachograph: The server refuses the key in TACHOGRAPH_API_KEY\n"])
  })

  it("says why it cannot begin", async () => {
    const { server, storage } = await served()
    const { stderr: invalid } = await runInProcess(["tail", "--cursor", "none", "--storage", storage])
    expect(invalid).toContain("cursor: Value error, not a cursor of this server")
    await server.stop()
    const { code, stderr } = await runInProcess(["tail", "--url", server.url])
    expect([code, stderr.trimEnd().split("\n").length]).toEqual([1, 1])
    expect(stderr).toContain("ECONNREFUSED")
  })
})
