import { Questions } from "@tachograph/testkit"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { runInProcess, workIn } from "./CommandLine.ts"
import { serveAndRecordInProcess } from "./RecordingServer.ts"

interface Question {
  readonly title: string
  readonly commands: ReadonlyArray<string>
  /** None where only a command answers it. */
  readonly requests: ReadonlyArray<string>
}

/** The questions of the page. */
const asked = (): ReadonlyArray<Question> => {
  const page = readFileSync(new URL("../../../docs/questions.md", import.meta.url), "utf8")
  return page
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title, ...text] = section.split("\n")
      const blocks = Array.from(text.join("\n").matchAll(/^```(\w+)\n([^`]*)\n```$/gm), ([, kind, lines]) => [
        kind,
        lines!.split("\n")
      ])
      const { sh, http = [], ...others } = Object.fromEntries(blocks) as Readonly<Record<string, ReadonlyArray<string>>>
      expect([blocks.length, others]).toEqual([http.length === 0 ? 1 : 2, {}])
      return { title: title!, commands: sh!, requests: http }
    })
}

/** The words of a command line, with the quoted ones as one. */
const wordsOf = (command: string): ReadonlyArray<string> =>
  Array.from(command.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, word]) => quoted ?? word!)

/** What answers a question: what its commands print, and the bodies of the answers to its requests. */
type Answers = readonly [printed: ReadonlyArray<RegExp>, ...bodies: ReadonlyArray<unknown>]

const has = (fields: object): unknown => expect.objectContaining(fields)

/** Rows that are all there are, in this order. */
const rows = (name: string, ...fields: ReadonlyArray<object>) =>
  has({ [name]: fields.map((each) => has(each)), next_cursor: null })

const id = /[0-9a-f]{8}-[0-9a-f-]{27}/

const told = (content: string) => ({ instructions: expect.arrayContaining([has({ content })]) })

/** By the questions. Commands and requests ask stores of the same calls. */
const answers: Readonly<Record<string, Answers>> = {
  "Which sessions did a person have yesterday?": [
    [/^order-4701 .*\$0\.0026.*Can I have a refund\?\n$/m],
    rows("sessions", { session: "order-4701", events: 1, cost_usd: "0.0026", people: ["ann"] })
  ],
  "What happened in one of them?": [
    [/Where is refund 4711\?/, /It is on its way\./],
    rows("messages", { role: "system" }, { role: "user" }, { role: "assistant" })
  ],
  "Why was a session expensive?": [
    [/\(20,000 cached\)[^\n]*\$0\.00[^\n]*\n(?:.*\n)*.*\(0 cached\)[^\n]*\$0\.0795 .*\n +other tools$/m],
    rows(
      "calls",
      { cache_read_tokens: 0, tools_changed: false },
      { cache_read_tokens: 20_000, tools_changed: false },
      {
        cache_read_tokens: 0,
        cache_write_tokens: 21_000,
        tools_changed: true,
        input_prices: has({ cache_read_mtok: 0.3 })
      }
    )
  ],
  "Which calls failed?": [
    [/^[^\n]* order-4714 [^\n]*404[^\n]*The model `gpt-9` does not exist[^\n]*\n[^\n]* order-4713 [^\n]*429[^\n]*\n$/],
    rows("events", { session: "order-4714", http_status: 404 }, { session: "order-4713", http_status: 429 })
  ],
  "How did they fail, and why?": [
    [/404\/invalid_request_error\/model_not_found.*\n?.*does not exist/, /429\/tokens\/rate_limit_exceeded/],
    rows(
      "failures",
      { failure: "404/invalid_request_error/model_not_found", message: expect.stringContaining("does not exist") },
      { failure: "429/tokens/rate_limit_exceeded", message: expect.stringContaining("try again in 412ms"), events: 1 }
    )
  ],
  "Which calls were tried again?": [
    [new RegExp(`^[^\\n]* order-4713 [^\\n]* 429 [^\\n]* retried by ${id.source} {2}${id.source}\\n$`)],
    rows("events", { session: "order-4713", http_status: 429, retried_by: expect.stringMatching(id) })
  ],
  "Which answers were cut off?": [
    [/^[^\n]* order-4712 [^\n]*length {2}[0-9a-f-]{36}\n$/],
    rows("events", { session: "order-4712", stop_reason: "length" })
  ],
  "Which sessions cost most?": [
    [/^[^\n]*\norder-4715 [^\n]*\$0\.16[^\n]*\n(?:order[^\n]*\$0\.0026[^\n]*\n){5}order-4714 /],
    rows(
      "sessions",
      { session: "order-4715", cost_usd: "0.163902" },
      ...Array.from({ length: 5 }, () => ({ cost_usd: "0.0026" })),
      { session: "order-4714", cost_usd: null }
    )
  ],
  "Which calls were slowest?": [
    [/^[^\n]* order-4715 [^\n]* 9\.4 s [^\n]*\n[^\n]* order-4715 [^\n]* 2\.0 s /],
    rows(
      "events",
      ...[9_400, 2_000, 2_000, 1_200, 1_200, 1_200, 1_200, 1_200, 180, 90].map((duration_ms) => ({ duration_ms }))
    )
  ],
  "What does a session cost, by version?": [
    [/^support +v2 +4 +7 .*\n^support +v1 +3 +3 /m, /^total +7 +10 /im],
    has({
      usage: [
        has({ agent_version: "v2", sessions: 4, cost_usd_per_session: has({ median: "0.0026" }) }),
        has({
          agent_version: "v1",
          sessions: 3,
          cost_usd_per_session: { mean: "0.0026", median: "0.0026", p95: "0.0026" }
        })
      ],
      total: has({ sessions: 7, events: 10 })
    })
  ],
  "What did each model cost today?": [
    [/^claude-sonnet-4-5 .*\$0\.16.*\n^gpt-4o .*\$0\.0078/m, /^total .*\$0\.1\d/im],
    has({
      usage: [has({ model: "claude-sonnet-4-5", events: 3 }), has({ model: "gpt-4o", cost_usd: "0.0078" })],
      total: has({ events: 8 })
    })
  ],
  "Who used it most?": [
    [/^bob +5 +8 (?:.*\n)+ann +2 +2 /m],
    rows("people", { person_id: "bob" }, { person_id: "ann" }),
    has({ usage: [has({ person: "bob", events: 8 }), has({ person: "ann", events: 2 })] })
  ],
  "What changed in the prompt?": [
    [
      /^models\n-v1: gpt-4o\n\+v2: gpt-4o 57 %, claude-sonnet-4-5 43 %$/m,
      /^ {2}cost, mean /m,
      /Be \[-short-\]\{\+kind\+\}\.$/m,
      /temperature/
    ],
    rows("configurations", told("You help customers. A refund takes three days.\nBe short.")),
    has({
      configurations: expect.arrayContaining([has(told("You help customers. A refund takes three days.\nBe kind."))])
    })
  ],
  "How do two sessions differ?": [
    [/^session +order-4711 +order-4712$/m, /^\[A 2, B 2\] user differs$/m],
    rows("messages", { role: "system" }, { role: "user" }, { role: "assistant" }),
    rows("messages", { role: "system" }, { role: "user" }, { role: "assistant" })
  ],
  "Where was this said by a person?": [
    [/ order-4711 +user (?:.*\n)+.* order-4701 +user /, /Where is refund 4711\?/, /2 hits in 2 sessions/],
    rows("sessions", { session: "order-4711", role: "user", hits: 1 }, { session: "order-4701", role: "user", hits: 1 })
  ],
  "What is there of a person?": [[], expect.stringContaining("Can I have a refund?")],
  "How is a person erased, and who can see that it was done?": [
    [/^Erased 2 events, 2 sessions and \d+ pieces? of payloads: /],
    has({ events: 2, sessions: 2 })
  ],
  "Who erased what?": [
    [/key-created +command/, /person-erased +command +2 /],
    rows("entries", { action: "person-erased", events: 2 }, { action: "person-erasure" }, { action: "key-created" })
  ],
  "How do I take it all elsewhere?": [[]]
}

describe("docs/questions.md", () => {
  it("answers each question by its command", async () => {
    const { client, cwd, server } = await serveAndRecordInProcess("record")
    await Questions.record(client)
    await server.stop()
    // As the page runs them: beside the storage.
    workIn(cwd)
    const questions = asked()
    expect(questions.map(({ title }) => title)).toEqual(Object.keys(answers))
    for (const { commands, title } of questions) {
      let printed = ""
      for (const command of commands) {
        const [program, ...args] = wordsOf(command)
        expect(program).toBe("tachograph")
        const { code, stderr, stdout } = await runInProcess(args)
        expect([command, code], stderr).toEqual([command, 0])
        printed += stdout
      }
      for (const pattern of answers[title]![0]) expect.soft(printed, title).toMatch(pattern)
    }
    const exported = readFileSync(join(cwd, "ann.ndjson"), "utf8")
    expect(exported).toContain("refund 4711")
    expect(exported).not.toContain("order-4712")
    expect(existsSync(join(cwd, "elsewhere.db"))).toBe(true)
    const elsewhere = await runInProcess(["calls", "--json", "--storage", "sqlite:elsewhere.db"])
    expect(elsewhere.stdout.trimEnd().split("\n")).toHaveLength(8)
    const { stdout } = await runInProcess(["search", "refund", "--role", "user"])
    expect(stdout).not.toContain("order-")
  })

  it("has the commands and the requests that docs/viewer.md names", () => {
    const page = readFileSync(new URL("../../../docs/viewer.md", import.meta.url), "utf8")
    const linked = page.split("\n").filter((line) => line.startsWith("| [") && line.includes("](questions.md#"))
    const questions = asked()
    expect(linked).toHaveLength(12)
    for (const line of linked) {
      const { commands, requests } = questions.find(({ title }) => line.startsWith(`| [${title}](`))!
      const named = Array.from(line.matchAll(/`((?:tachograph|GET|DELETE) [^`]+)`/g), ([, text]) => text)
      expect(named).toEqual([...commands, ...requests])
    }
  })

  it("answers each question by its request", async () => {
    const { client } = await serveAndRecordInProcess("admin")
    const { failed, retry } = await Questions.record(client)
    for (const { requests, title } of asked()) {
      const bodies: Array<unknown> = []
      for (const request of requests) {
        const [method, path] = request.split(" ")
        const { body, status, text } = await client.call(method!, path!)
        expect([request, status], text).toEqual([request, 200])
        bodies.push(body ?? text)
      }
      expect.soft([title, ...bodies]).toEqual([title, ...answers[title]!.slice(1)])
    }
    const { events } = (await client.get("/api/v1/events?retried=true")).body
    expect(events).toEqual([has({ event_id: failed, retried_by: retry })])
    // What proves that a person was erased.
    expect((await client.get("/api/v1/people/ann")).status).toBe(404)
    expect((await client.get("/api/v1/events?person=ann")).body.events).toEqual([])
    expect((await client.get("/api/v1/search/sessions?q=refund&role=user")).body.sessions).toEqual([])
  })
})
