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
    const [second, said, first, asked, totals, ...others] = lines(stdout)
    expect(others).toEqual([])
    expect(second).toMatch(new RegExp(`^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d {2}two {2}user {2}${ids[1]} {2}1 hit$`))
    expect(said).toBe("  refund 4711, please")
    expect(first).toMatch(/ {2}one {2}user {2}/)
    // In one line, and without the colour that was said.
    expect(asked).toMatch(/^ {2}Where is \\u\{1b\}\[31mRefund 4711\? x+$/)

    expect(totals).toBe("2 hits in 2 sessions")

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
    expect(await json("refund 4711", "--role", "assistant,tool")).toEqual([])
    expect(await json("refund 4711", "--role", "user")).toEqual(all)
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

  it("prints a row for each session, with its hits counted, and leaves instructions out", async () => {
    const { record, server, storage } = await serveAndRecordInProcess("record")
    const say = (session: string, ...messages: ReadonlyArray<readonly [role: string, content: string]>) => {
      const inputs = { messages: messages.map(([role, content]) => ({ role, content })) }
      return record({ session, properties: { api: "provider1-chat-completions", inputs, output: {} } })
    }
    await say("one", ["system", "never refund"], ["user", "a refund"], ["assistant", "no refund"], ["user", "refund!"])
    await say("two", ["system", "never refund"], ["user", "hello"])
    await say("three", ["user", "refund me"])
    await server.stop()
    const search = async (...args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await runInProcess(["search", "refund", ...args, "--storage", storage])
      return [
        code,
        stderr,
        ...lines(stdout).map((line) => line.replace(/^\d.{15} {2}|[\da-f]{8}-[\da-f-]{27} {2}/g, ""))
      ]
    }
    const three = ["three  user  1 hit", "  refund me"]
    expect(await search()).toEqual([0, "", ...three, "one  user  3 hits", "  refund!", "4 hits in 2 sessions"])
    expect(await search("--role", "user")).toEqual([
      0,
      "",
      ...three,
      "one  user  2 hits",
      "  refund!",
      "3 hits in 2 sessions"
    ])
    expect(await search("--role", "system")).toEqual([
      ...[0, ""],
      ...["two  system  1 hit", "  never refund"],
      ...["one  system  1 hit", "  never refund"],
      "2 hits in 2 sessions"
    ])
    expect(await search("--limit", "1")).toEqual([0, "", ...three, "1 hit in 1 session so far: --limit finds more"])
    expect(await search("--role", "tool")).toEqual([0, "Nothing was found\n"])
    expect(await search("--role", "human")).toEqual([
      1,
      expect.stringMatching(/role: .*expected one or more of user, /)
    ])
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
