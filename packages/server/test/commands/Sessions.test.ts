import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { expectUsageError, runInProcess } from "../CommandLine.ts"
import { serveAndRecordInProcess } from "../RecordingServer.ts"
import { temporaryFolder } from "../TachographProcess.ts"

const properties = (input: number) => ({
  api: "provider1-chat-completions",
  inputs: { model: "gpt-4o", messages: [{ role: "user", content: "Hi" }] },
  output: { model: "gpt-4o", choices: [], usage: { prompt_tokens: input, completion_tokens: 0, total_tokens: input } }
})

const failed = {
  api: "provider2-messages",
  inputs: { model: "claude", messages: [] },
  output: { type: "error", error: { type: "overloaded_error", message: "busy" } }
}

/** Records calls of two sessions. Returns the storage and the day. */
const recorded = async () => {
  const { record, server, storage } = await serveAndRecordInProcess("record")
  const { received_at } = await record({
    session: "one",
    agent: "bot",
    duration_ms: 1500,
    properties: properties(1_000_000)
  })
  await record({ session: "two\u001b[31m", agent: "bot", person: "ann", properties: properties(200) })
  await record({ session: "two\u001b[31m", agent: "bot", person: "ann", properties: failed })
  await server.stop()
  return { storage, day: received_at.slice(0, 10) }
}

const lines = (stdout: string) => stdout.trimEnd().split("\n")

describe("tachograph sessions and usage", () => {
  it("prints sessions and usage, as tables or as JSON", async () => {
    const { day, storage } = await recorded()
    const { code, stderr, stdout } = await runInProcess(["sessions", "--storage", storage])
    expect([code, stderr]).toEqual([0, ""])
    const [heading, two, one, ...others] = lines(stdout)
    expect(others).toEqual([])
    expect(heading).toMatch(
      /^SESSION +LAST \(UTC\) +LASTED +CALLS +ERRORS +TOKENS IN +OUT +COST +AGENTS +VERSIONS +PEOPLE +TITLE$/
    )
    // No colours, and none of a name.
    expect(two).toMatch(
      /^two\\u\{1b\}\[31m +\d{4}-\d\d-\d\d \d\d:\d\d +\d+ m?s +2 +1 +200 +0 +\$0\.0005\+ +bot +default +ann/
    )
    expect(one).toMatch(/^one +\d{4}-\d\d-\d\d \d\d:\d\d +0 ms +1 +1,000,000 +0 +\$2\.5000 +bot/)

    const json = async (...args: ReadonlyArray<string>) => {
      const printed = await runInProcess([...args, "--json", "--storage", storage])
      expect([printed.code, printed.stderr]).toEqual([0, ""])
      return printed.stdout === "" ? [] : lines(printed.stdout).map((line) => JSON.parse(line))
    }
    expect(await json("sessions", "--no-errors")).toMatchObject([{ session: "one", cost_usd: "2.5" }])
    expect(await json("sessions", "--person", "ann", "--errors")).toMatchObject([{ events: 2, errors: 1 }])
    expect(await json("sessions", "--limit", "1")).toHaveLength(1)
    expect(await json("sessions", "--after", "60m", "--before", "2100-01-01")).toHaveLength(2)
    expect(await json("sessions", "--before", "1h")).toEqual([])
    expect(await json("usage")).toMatchObject([{ events: 3, errors: 1, unpriced_events: 1, cost_usd: "2.5005" }])
    expect(await json("usage", "--by", "model", "--agent", "bot")).toMatchObject([
      { model: "claude", cost_usd: null },
      { model: "gpt-4o", events: 2 },
      { total: { events: 3, sessions: 2 } }
    ])
    const sessions = async (...args: ReadonlyArray<string>) =>
      (await json("sessions", ...args)).map(({ session }) => session.slice(0, 3))
    expect(await sessions("--sort", "cost")).toEqual(["one", "two"])
    expect(await sessions("--sort", "calls")).toEqual(["two", "one"])
    expect(await sessions("--sort", "cost", "--order", "asc")).toEqual(["two", "one"])
    expect(await json("calls", "--sort", "duration")).toMatchObject([{ session: "one", duration_ms: 1500 }])
    expect(await json("people", "--sort", "cost")).toMatchObject([
      { person_id: "ann", usage: { events: 2, sessions: 1, cost_usd: "0.0005" } }
    ])
    const { stdout: people } = await runInProcess(["people", "--storage", storage])
    expect(lines(people)[0]).toMatch(/^PERSON +KNOWN SINCE \(UTC\) +LAST SEEN \(UTC\) +SESSIONS +CALLS +ERRORS +COST/)
    expect(lines(people)[1]).toMatch(/^ann .* 1 +2 +1 +\$0\.0005\+$/)

    const { stdout: table } = await runInProcess(["usage", "--by", "day,model", "--storage", storage])
    const [top, claude, gpt, total, ...more] = lines(table)
    expect(top).toMatch(
      /^DAY +MODEL +SESSIONS +CALLS +ERRORS +TOKENS IN +OUT +CACHED +COST +PER SESSION +MEDIAN +95 % +UNPRICED +PARTLY +P50 +P95 +P99$/
    )
    expect(claude).toMatch(/^\d{4}-\d\d-\d\d +claude +1 +1 +1 +0 +0 +0 +1$/)
    const costs = String.raw`\$2\.5005 +\$1\.2503 +\$1\.2503 +\$2\.5000`
    expect(gpt).toMatch(new RegExp(`^${day} +gpt-4o +2 +2 +1,000,200 +0 +0 +${costs} +1\\.5 s +1\\.5 s +1\\.5 s$`))
    expect(total).toMatch(/^total +2 +3 +1 +1,000,200 .* \$2\.5005\+ +\$1\.2503\+ +\$1\.2503\+ +\$2\.5000\+ /)
    expect(more).toEqual([])
  })

  it("says how long sessions lasted, the longest first where it is asked", async () => {
    const { record, server, storage } = await serveAndRecordInProcess("record")
    const call = (session: string, time: string) =>
      record({ session, agent: "bot", occurred_at: `2026-01-${time}Z`, properties: properties(1) })
    for (const [session, first, last] of [
      ["short", "01T10:00:00", "01T10:00:42"],
      ["long", "01T10:00:00", "02T13:20:00"],
      ["middle", "01T10:00:00", "01T10:12:00"]
    ] as const) {
      await call(session, first)
      await call(session, last)
    }
    await server.stop()
    const { stdout } = await runInProcess(["sessions", "--sort", "duration", "--storage", storage])
    expect(lines(stdout).slice(1)).toEqual(
      [/^long .*:\d\d +27 h 20 min +2 /, /^middle .*:\d\d +12 min +2 /, /^short .*:\d\d +42\.0 s +2 /].map((line) =>
        expect.stringMatching(line)
      )
    )
  })

  it.each([
    [["sessions", "--limit", "0"], '--limit is "0": expected a number from 1'],
    [["sessions", "--after", "tomorrow"], '--after is "tomorrow": expected a time such as'],
    [["usage", "--url", "nowhere"], '--url is "nowhere": expected a URL']
  ])("refuses %j with one line and exit code 2", async (args, message) => {
    expectUsageError(await runInProcess(args), message)
  })

  it("says on standard error that nothing was found, but not as JSON, and which name nothing has", async () => {
    const storage = `sqlite:${join(temporaryFolder(), "empty.db")}`
    await runInProcess(["keys", "create", "--storage", storage])
    for (const list of [["calls"], ["sessions"], ["search", "refund"], ["usage", "--by", "model"]]) {
      const args = [...list, "--agent", "nosuch", "--storage", storage]
      const stderr = 'No agent "nosuch" is recorded in this project: is it misspelt?\n'
      expect(await runInProcess(args)).toEqual({ code: 0, stdout: "", stderr })
      expect(await runInProcess([...args, "--json"])).toEqual({ code: 0, stdout: "", stderr })
    }
    const { code, stderr } = await runInProcess(["export", "--session", "nosuch", "--storage", storage])
    expect([code, stderr]).toEqual([0, 'No session "nosuch" is recorded in this project: is it misspelt?\n'])
    const list = ["sessions", "--storage", storage]
    expect(await runInProcess(list)).toEqual({ code: 0, stdout: "", stderr: "Nothing was found\n" })
    expect(await runInProcess([...list, "--json"])).toEqual({ code: 0, stdout: "", stderr: "" })
  })

  it("says what a query has that the server refuses", async () => {
    const storage = `sqlite:${join(temporaryFolder(), "other.db")}`
    await runInProcess(["keys", "create", "--storage", storage])
    const { code, stderr } = await runInProcess(["usage", "--storage", storage, "--by", "week", "--time-zone", "Mars"])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^tachograph: group_by: .*expected up to two of .*; time_zone: .*name of a time zone.*\n$/)
    ])
  })
})
