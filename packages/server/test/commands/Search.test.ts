import { DatabaseSync } from "node:sqlite"
import { describe, expect, it } from "vitest"
import { expectUsageError, runInProcess } from "../CommandLine.ts"
import { serveAndRecordInProcess } from "../RecordingServer.ts"

const lines = (stdout: string) => (stdout === "" ? [] : stdout.trimEnd().split("\n"))

/** Records calls of two sessions, and asks for a text before the server ends. */
const recorded = async () => {
  const { file, key, record, server, storage } = await serveAndRecordInProcess("record,read")
  const say = async (session: string, person: string, content: string) => {
    const inputs = { model: "m", messages: [{ role: "user", content }] }
    const properties = { api: "provider1-chat-completions", inputs, output: {} }
    const occurred_at = session === "late" ? "2026-01-02T03:04:05Z" : undefined
    return (await record({ session, person, properties, ...(occurred_at && { occurred_at }) })).event_id
  }
  const ids = [
    await say("one", "ann", `Where is\n\u001b[31mRefund 4711? ${"x".repeat(300)}`),
    await say("two", "bob", "refund 4711, please")
  ]
  const late = await say("late", "eve", "what took place long ago")
  const overHttp = await runInProcess(["search", "REFUND 4711", "--json", "--url", server.url], {
    TACHOGRAPH_API_KEY: key
  })
  await server.stop()
  return { file, ids, late, overHttp, storage }
}

describe("tachograph search", () => {
  it("prints where a text was said, of a storage or of a server", async () => {
    const { file, ids, late, overHttp, storage } = await recorded()
    const { code, stderr, stdout } = await runInProcess(["search", "refund 4711", "--storage", storage])
    expect([code, stderr]).toEqual([0, ""])
    const [second, said, first, asked, ...others] = lines(stdout)
    expect(others).toEqual([])
    expect(second).toMatch(new RegExp(`^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d {2}two {2}user {2}${ids[1]}$`))
    expect(said).toBe("  refund 4711, please")
    expect(first).toMatch(/ {2}one {2}user {2}/)
    // In one line, and without the colour that was said.
    expect(asked).toMatch(/^ {2}Where is \\u\{1b\}\[31mRefund 4711\? x+$/)

    const json = async (...args: ReadonlyArray<string>) => {
      const printed = await runInProcess(["search", ...args, "--json", "--storage", storage])
      expect([printed.code, printed.stderr]).toEqual([0, ""])
      return lines(printed.stdout).map((line) => JSON.parse(line))
    }
    const all = await json("refund 4711")
    expect(all.map(({ event_id }) => event_id)).toEqual(ids.toReversed())
    expect(all[0]).toMatchObject({ session: "two", role: "user", hit_start: 0, hit_end: 11 })
    expect([overHttp.code, lines(overHttp.stdout).map((line) => JSON.parse(line))]).toEqual([0, all])
    expect(await json("refund 4711", "--case-sensitive")).toEqual(all.slice(0, 1))
    expect(await json("refund 4711", "--session", "one")).toEqual(all.slice(1))
    expect(await json("refund 4711", "--person", "bob", "--after", "1h")).toEqual(all.slice(0, 1))
    expect(await json("refund 4711", "--before", "1h")).toEqual([])
    expect(await json("refund 4711", "--limit", "1")).toEqual(all.slice(0, 1))
    expect(await json("nothing of it")).toEqual([])
    const ofLate = async (...times: ReadonlyArray<string>) =>
      (await json("long ago", ...times)).map(({ event_id }) => event_id)
    expect(await ofLate("--after", "1h")).toEqual([])
    expect(await ofLate("--before", "1h")).toEqual([late])
    expect(await ofLate("--received-after", "1h", "--before", "2026-01-03")).toEqual([late])
    expect(await ofLate("--received-before", "1h")).toEqual([])

    const database = new DatabaseSync(file)
    database.exec("UPDATE packs SET pack = zeroblob(20) WHERE session_number = 1")
    database.close()
    const damaged = await runInProcess(["search", "refund 4711", "--json", "--storage", storage])
    expect([damaged.code, lines(damaged.stdout).map((line) => JSON.parse(line))]).toEqual([1, all.slice(0, 1)])
    expect(damaged.stderr).toContain("because they are damaged: 1")
  })

  it.each([
    [["search", "x", "--limit", "0"], '--limit is "0": expected a number from 1'],
    [["search", "x", "--after", "tomorrow"], '--after is "tomorrow": expected a time such as'],
    [["search", "x", "--received-before", "then"], '--received-before is "then": expected a time such as']
  ])("refuses %j", async (args, message) => {
    expectUsageError(await runInProcess(args), message)
  })

  it("says why a text cannot be searched for", async () => {
    const { storage } = await recorded()
    const { code, stderr } = await runInProcess(["search", "", "--storage", storage])
    expect([code, stderr]).toEqual([1, expect.stringContaining("at least 1 character")])
  })
})
