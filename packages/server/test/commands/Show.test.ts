import { createTachograph, type Tachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import { OtlpPosts } from "@tachograph/testkit"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { expectUsageError, runInProcess } from "../CommandLine.ts"
import { temporaryFolder } from "../TachographProcess.ts"

const user = (content: unknown) => ({ role: "user", content })
const assistant = (content: string) => ({ role: "assistant", content })

/** Returns a storage with what `record` records. */
const withTachograph = async (record: (tachograph: Tachograph, fingerprintId: string) => Promise<void>) => {
  const file = join(temporaryFolder(), "tachograph.db")
  const tachograph = await createTachograph({ storage: sqlite(file), apiKeys: ["a key for the sessions"] })
  await record(tachograph, await tachograph.fingerprint({ language: "l", language_version: "v", system: "s" }))
  await tachograph.close()
  return `sqlite:${file}`
}

/** Records calls of a session: their messages, and what they answered. */
const recorded = async (
  session: string,
  calls: ReadonlyArray<readonly [messages: ReadonlyArray<object>, message: object | undefined, fields?: object]>
) =>
  withTachograph(async (tachograph, fingerprint_id) => {
    for (const [messages, message, fields] of calls) {
      const usage = { prompt_tokens: 1_000, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 400 } }
      const output =
        message === undefined
          ? { error: { type: "overloaded", message: "busy" } }
          : { model: "gpt-4o", choices: [{ index: 0, message, finish_reason: "stop" }], usage }
      await tachograph.record({
        event_name: "llm",
        fingerprint_id,
        session,
        agent: "bot",
        occurred_at: "2026-01-02T03:04:05Z",
        ...(message === undefined ? { duration_ms: 0 } : {}),
        properties: { api: "provider1-chat-completions", inputs: { model: "gpt-4o", messages, ...fields }, output }
      })
    }
  })

/** Records calls that failed, by the status of the response and the output. */
const failed = async (session: string, answers: ReadonlyArray<readonly [status: number | undefined, output: object]>) =>
  withTachograph(async (tachograph, fingerprint_id) => {
    for (const [http_status, output] of answers) {
      const properties = {
        api: "provider1-chat-completions",
        inputs: { model: "gpt-4o", messages: [] },
        output
      } as const
      await tachograph.record({ event_name: "llm", fingerprint_id, session, http_status, properties })
    }
  })

const show = async (storage: string, ...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await runInProcess(["show", ...args, "--storage", storage])
  expect([code, stderr]).toEqual([0, ""])
  return stdout
}

/** Without the ids of events. */
const readable = (stdout: string) =>
  stdout.replaceAll(/^ {3}[0-9a-f-]{36}\n/gm, "").replaceAll(/[0-9a-f-]{36}$/gm, "ID")

describe("tachograph show", () => {
  it("says how many parts of a call were masked", async () => {
    const properties = { api: "provider1-chat-completions", inputs: { model: "gpt-4o" }, output: {} } as const
    const storage = await withTachograph(async (tachograph, fingerprint_id) => {
      for (const redacted of [0, 1, 2]) {
        await tachograph.record({ event_name: "llm", fingerprint_id, session: "s", recorded: { redacted }, properties })
      }
    })
    const stdout = await show(storage, "s")
    expect(stdout.match(/^ {3}.* masked$/gm)).toEqual(["   1 part masked", "   2 parts masked"])
  })

  it("prints messages once, and what each call added, rewrote and cost", async () => {
    const calls = [{ id: "c1", type: "function", function: { name: "search", arguments: '{"q":"A to B"}' } }]
    const storage = await recorded("a/b", [
      [[user("How far?")], undefined],
      [[user("How far?")], { role: "assistant", content: null, tool_calls: calls }],
      [
        [
          user("How far?"),
          { role: "assistant", content: null, tool_calls: calls },
          { role: "tool", tool_call_id: "c1", content: "12\tkm\r\nby road" }
        ],
        assistant("12 km.\n\nBy road.")
      ],
      [
        [
          user("In short: 12 km."),
          { role: "tool", tool_call_id: "c1", content: "12\tkm\r\nby road" },
          user("And back?")
        ],
        assistant("The same."),
        { temperature: 0 }
      ],
      [[user("Something else")], assistant("Yes?")]
    ])
    const mark = (number: number, reason?: string) =>
      `── call ${number} · 2026-01-02 03:04 · bot · gpt-4o${reason === undefined ? " · 0 ms" : ` · 1,000 in (400 cached), 10 out · $0.0021 · ${reason}`}`
    expect(readable(await show(storage, "a/b"))).toBe(`${mark(1)}
   error: overloaded: busy
   retried by ID
[1] user
    How far?

${mark(2, "tool_calls")}
   retry of call 1
[2] assistant answers
    → search({"q":"A to B"})

${mark(3, "end")}
[3] tool
    ← 12  km
    by road

[4] assistant answers
    12 km.

    By road.

${mark(4, "end")}
   history rewritten: 3 messages gone (1–2, 4), 1 kept
   other parameters
[5] user
    In short: 12 km.

[6] user
    And back?

[7] assistant answers
    The same.

${mark(5, "end")}
   begins another thread
[8] user
    Something else

[9] assistant answers
    Yes?

`)
  })

  it("parts a call from the next one where it said nothing new", async () => {
    const storage = await recorded("s", [
      [[user("Hi")], assistant("Hello.")],
      [[user("Hi")], assistant("Hello.")],
      [[user("Hi")], undefined]
    ])
    const marks = (await show(storage, "s")).split("\n").filter((line) => !/^ {3}[0-9a-f-]{36}$/.test(line))
    const ends = marks.flatMap((line, index) => (/^── call [23]/.test(line) ? [marks[index - 1]] : []))
    expect(ends).toEqual(["", ""])
    expect(marks.join("\n")).toContain("    again: 2\n\n──")
  })

  it("prints nothing that a terminal would obey, and no more of a text than asked for", async () => {
    const storage = await recorded("s", [
      [
        [
          user("\u001b[31mred\u0007 \u202eabc"),
          user([{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }])
        ],
        assistant("x".repeat(3_000))
      ]
    ])
    const stdout = await show(storage, "s")
    expect(stdout).toContain("    \\u{1b}[31mred\\u{7} \\u{202e}abc\n")
    expect(stdout).toContain("    [image image/png]\n")
    expect(stdout).toContain(`    ${"x".repeat(2_000)} … 1,000 more characters\n`)
    for (const obeyed of ["\u0007", "\u001b", "\u202e"]) expect(stdout).not.toContain(obeyed)
    expect(await show(storage, "s", "--full")).toContain(`    ${"x".repeat(3_000)}\n`)
  })

  it("says why a call failed: status, type, and what the provider said, in one line", async () => {
    const error = (type: string, message: string) => ({ error: { type, message } })
    const broken = "a\u001b[31m\n  b\u202e".padEnd(700, "x")
    const storage = await failed("s", [
      [401, error("authentication_error", "invalid x-api-key")],
      [502, { error: { type: "http_502", message: "No JSON.", body: "<html>\nBad gateway" } }],
      [404, { detail: "Not Found" }],
      [503, {}],
      [undefined, error("x", broken)]
    ])
    const lines = (stdout: string) => stdout.match(/error: .*/g)
    expect(lines(await show(storage, "s"))).toEqual([
      "error: 401 authentication_error: invalid x-api-key",
      "error: http_502: No JSON. <html> Bad gateway",
      "error: 404: Not Found",
      "error: 503",
      expect.stringMatching(/^error: x: a\\u\{1b\}\[31m b\\u\{202e\}x{400,500}…$/)
    ])
    expect(lines(await show(storage, "s", "--full"))?.at(-1)).toMatch(/x{600}$/)
    const { stdout } = await runInProcess(["calls", "--errors", "--storage", storage])
    expect(stdout.match(/failed: .*(?= {2}[0-9a-f-]{36}$)/gm)).toEqual([
      expect.stringMatching(/^failed: x: a\\u\{1b\}\[31m b\\u\{202e\}x{80,100}…$/),
      "failed: 503",
      "failed: 404: Not Found",
      "failed: http_502: No JSON. <html> Bad gateway",
      "failed: 401 authentication_error: invalid x-api-key"
    ])
  })

  it("says which call is a retry of which, and which was retried", async () => {
    const asked = [user("How far is it?")]
    const storage = await recorded("s", [
      [asked, undefined],
      [[user("Something else")], assistant("!")],
      [asked, undefined],
      [asked, assistant("12 km")]
    ])
    const printed = await show(storage, "s")
    const about = printed.match(/^── call \d|^ {3}(retr|begins|goes).*$/gm)
    const ids = printed.match(/^ {3}[\da-f-]{36}$/gm)!.map((line) => line.trim())
    expect(about).toEqual([
      "── call 1",
      `   retried by ${ids[2]}`,
      "── call 2",
      "   begins another thread",
      "── call 3",
      `   retried by ${ids[3]}`,
      "   retry of call 1",
      "── call 4",
      "   retry of call 3"
    ])
  })

  it("says in lists of calls what came from the cache, also nothing, where the provider says it", async () => {
    const usages = [
      { prompt_tokens: 1_000, prompt_tokens_details: { cached_tokens: 400 }, completion_tokens: 1 },
      { prompt_tokens: 1_000, prompt_tokens_details: { cached_tokens: 0 }, completion_tokens: 1 },
      { prompt_tokens: 1_000, prompt_tokens_details: null, completion_tokens: 1 }
    ]
    const storage = await withTachograph(async (tachograph, fingerprint_id) => {
      for (const usage of usages) {
        const properties = { api: "provider1-chat-completions", inputs: { model: "m" }, output: { usage } } as const
        await tachograph.record({ event_name: "llm", fingerprint_id, session: "s", properties })
      }
    })
    const { stdout } = await runInProcess(["calls", "--storage", storage])
    expect(stdout.match(/1,000.*tokens/g)).toEqual([
      "1,000 → 1 tokens",
      "1,000 (0 cached) → 1 tokens",
      "1,000 (400 cached) → 1 tokens"
    ])
    expect((await show(storage, "s")).match(/1,000 in[^,]*/g)).toEqual([
      "1,000 in (400 cached)",
      "1,000 in (0 cached)",
      "1,000 in"
    ])
  })

  /** Calls whose instructions come in every way: apart, among the messages, changed, taken away and used again. */
  const instructed = (long: string) =>
    withTachograph(async (tachograph, fingerprint_id) => {
      const record = async (api: string, inputs: object) => {
        const properties = { api: api as "aisdk", inputs: inputs as {}, output: {} }
        await tachograph.record({ event_name: "llm", fingerprint_id, session: "s", properties })
      }
      const [a, b, c] = [user("a"), user("b"), user("c")]
      await record("provider2-messages", { system: long, messages: [a] })
      await record("provider2-messages", { system: long, messages: [a, b] })
      await record("provider2-messages", { system: [{ type: "text", text: "Be kind." }], messages: [a, b, c] })
      await record("provider2-messages", { messages: [a, b, c, user("d")] })
      await record("provider1-responses", { instructions: "Of Responses.", input: "e" })
      await record("provider3-models", {
        systemInstruction: { parts: [{ text: "Of Gemini." }] },
        contents: [{ role: "user", parts: [{ text: "f" }] }]
      })
      await record("aisdk", { system: "Of the AI SDK.", messages: [user("g")] })
      await record("provider2-messages", { system: "Be kind.", messages: [user("another thread")] })
      const chat = (content: string, ...said: ReadonlyArray<object>) =>
        record("provider1-chat-completions", { messages: [{ role: "developer", content }, user("h"), ...said] })
      await chat(`At one. ${"Be kind. ".repeat(20)}`)
      await chat(`At two. ${"Be kind. ".repeat(20)}`, user("i"))
    })

  it("prints instructions of each format in one line, with what changed in them", async () => {
    const storage = await instructed(`Be short.\u001b ${"x".repeat(3_000)}`)
    const printed = readable(await show(storage, "s"))
    expect(printed).toMatch(
      / {4}instructions: 3,011 characters, sha256 [\da-f]{12}; --instructions prints them\n\[1\] user/
    )
    const lines = printed.match(/^ {4}(?:instructions|no instructions|…|Be|Of|At|\[-).*/gm)
    expect(lines?.map((line) => line.replace(/ sha256 .*/, ""))).toEqual([
      "    instructions: 3,011 characters,",
      "    instructions: 8 characters,",
      `    Be [-short-]{+kind+}.[-\\u{1b} ${"x".repeat(198)}…${"x".repeat(200)}-]`,
      "    no instructions",
      "    instructions: 13 characters,",
      "    instructions: 10 characters,",
      "    instructions: 14 characters,",
      "    instructions: as of call 3",
      "    instructions: 188 characters,",
      "    instructions: 188 characters,",
      "    At [-one-]{+two+}. Be kind. Be kind. Be kind. Be kind. Be…"
    ])
    // They are no messages of the conversation, and a change of them is no rewritten history.
    expect(printed).not.toMatch(/^\[\d+\] developer/m)
    expect(printed).toMatch(/call 10 [^─]*\n {3}other instructions\n/)
    expect(printed).not.toContain("history rewritten")
  })

  it("prints instructions whole where they are asked for", async () => {
    const storage = await instructed(`Be short.\u001b ${"x".repeat(3_000)}`)
    const printed = readable(await show(storage, "s", "--instructions"))
    expect(printed).toMatch(
      / {4}instructions: 3,011 characters, sha256 [\da-f]{12}\n {4}Be short\.\\u\{1b\} x{3000}\n\[1\] user/
    )
    for (const text of ["Be kind.", "Of Responses.", "Of Gemini.", "Of the AI SDK.", "At one. Be", "At two. Be"]) {
      expect(printed.match(new RegExp(`^ {4}${text}`, "gm")), text).toHaveLength(1)
    }
    expect(printed).not.toContain("--instructions")
  })

  it("prints what coding agents put among the messages in one line", async () => {
    const storage = await withTachograph(async (tachograph, fingerprint_id) => {
      const reminder = `<system-reminder>\n${"Be kind. ".repeat(200)}\n</system-reminder>`
      const content = [reminder, "List the files"].map((text) => ({ type: "text", text }))
      const messages = [
        { role: "user", content },
        { role: "system", content: "# Environment" }
      ]
      const properties = { api: "provider2-messages", inputs: { messages }, output: {} } as const
      await tachograph.record({ event_name: "llm", fingerprint_id, session: "s", properties })
    })
    const folded = "--instructions prints them"
    const said = readable(await show(storage, "s"))
      .split("\n")
      .slice(1)
    expect(said.slice(0, 6)).toEqual([
      "[1] user",
      `    instructions: 1,837 characters; ${folded}`,
      "    List the files",
      "",
      "[2] system",
      `    instructions: 13 characters; ${folded}`
    ])
    const whole = await show(storage, "s", "--instructions", "--full")
    expect(whole).toContain("    # Environment\n")
    expect(whole).toContain(`    ${"Be kind. ".repeat(200).trimEnd()}\n    </system-reminder>\n`)
    expect(whole).not.toContain(folded)
  })

  it("finds a session by the beginning of its name, as lists cut it, or by a call in it", async () => {
    const storage = await withTachograph(async (tachograph, fingerprint_id) => {
      const properties = { api: "provider2-messages", inputs: { messages: [user("a")] }, output: {} } as const
      for (const session of ["e548a983-one\u001b", "e548a983-two", "e548a983", "f12d5eba42762eadeafeaf93885b61"]) {
        // A call is found by the time in its id, whenever it took place.
        const occurred_at = session === "e548a983-two" ? "2026-01-02T03:04:05Z" : undefined
        await tachograph.record({
          event_name: "llm",
          fingerprint_id,
          session,
          properties,
          ...(occurred_at && { occurred_at })
        })
      }
    })
    const found = async (name: string) => runInProcess(["show", name, "--storage", storage])
    const line = (await runInProcess(["calls", "--session", "e548a983-two", "--storage", storage])).stdout
    expect(line).toMatch(/^2026-01-02 03:04:05 /)
    const id = line.trimEnd().split("  ").at(-1)!
    const whole = await found("f12d5eba42762eadeafeaf93885b61")
    expect([whole.code, whole.stderr]).toEqual([0, ""])
    for (const name of ["f12d5eba", "f12d5eba42762e…"]) {
      const stderr = "The session is f12d5eba42762eadeafeaf93885b61\n"
      expect(await found(name)).toEqual({ ...whole, stderr })
    }
    expect(await found(id)).toMatchObject({ code: 0, stderr: "The session is e548a983-two\n" })
    // A whole name is no beginning.
    expect(await found("e548a983")).toMatchObject({ code: 0, stderr: "" })
    const several = 'tachograph: Several sessions begin with "e548a983-": e548a983-one\\u{1b}, e548a983-two\n'
    expect(await found("e548a983-")).toMatchObject({ code: 1, stderr: several })
    const none = (name: string) => `tachograph: There is no session "${name}"`
    expect(await found("f12d5eb")).toMatchObject({ code: 1, stderr: `${none("f12d5eb")}\n` })
    for (const name of ["f12d5ebb", id.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"))]) {
      expect(await found(name)).toMatchObject({ code: 1, stderr: `${none(name)}, and none of the latest begins so\n` })
    }
  })

  it("prints calls and messages as JSON, and says what it cannot show", async () => {
    const storage = await recorded("s", [[[user("a")], assistant("b")]])
    const lines = (await show(storage, "s", "--json"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject([
      { call: { session: "s", new_messages: [1], output: [2] } },
      { message: { number: 1, role: "user" } },
      { message: { number: 2, from: "output" } }
    ])
    expect(await runInProcess(["show", "nobody", "--storage", storage])).toMatchObject({
      code: 1,
      stderr: 'tachograph: There is no session "nobody"\n'
    })
    expectUsageError(await runInProcess(["show"]), "SESSION")
  })

  it("says that a call was rebuilt from spans, and prints what ran between calls where it is asked for", async () => {
    const startMs = Date.UTC(2026, 0, 2, 3, 4, 5)
    const traceId = "ab".repeat(16)
    const span = (number: number, name: string, attributes: Record<string, unknown>): OtlpPosts.ShortSpan => ({
      traceId,
      spanId: String(number).padStart(16, "0"),
      parentSpanId: number === 1 ? "" : "0000000000000001",
      name,
      startMs: startMs + number,
      endMs: startMs + number + 20,
      attributes: { "gen_ai.conversation.id": "s", ...attributes }
    })
    const chat = (content: string) => ({
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "gpt-4o",
      "gen_ai.input.messages": JSON.stringify([{ role: "user", parts: [{ type: "text", content }] }])
    })
    const tool = {
      "gen_ai.operation.name": "execute_tool",
      "error.type": "timeout",
      "error.message": "too\nslow\u001b"
    }
    const post = OtlpPosts.traces(
      [
        span(1, "invoke_agent bot", { "gen_ai.operation.name": "invoke_agent" }),
        span(2, "chat gpt-4o", chat("a")),
        span(3, "search", tool),
        span(4, "chat gpt-4o", chat("b"))
      ],
      "gen_ai",
      { "service.name": "shop" }
    )
    const storage = await withTachograph(async (tachograph) => {
      const response = await tachograph.fetch(
        new Request("http://localhost/otlp/v1/traces", {
          method: "POST",
          headers: { "content-type": "application/json", authorization: "Bearer a key for the sessions" },
          body: JSON.stringify(post)
        })
      )
      expect(response.status).toBe(200)
    })
    const mark = (number: number) => `── call ${number} · 2026-01-02 03:04 · shop · gpt-4o · 20 ms
   rebuilt from OpenTelemetry, not the bytes of the wire: scope gen_ai 1, service shop, span chat gpt-4o`
    expect(readable(await show(storage, "s", "--steps"))).toBe(`   · agent · invoke_agent bot · 20 ms

${mark(1)}
[1] user
    a

   · tool · search · 20 ms · failed: too slow\\u{1b}

${mark(2)}
   begins another thread
[2] user
    b

`)
    expect(await show(storage, "s")).not.toContain("search")
    const json = (await show(storage, "s", "--steps", "--json")).trimEnd().split("\n")
    expect(json.map((line) => Object.keys(JSON.parse(line))[0])).toEqual([
      "step",
      "call",
      "message",
      "step",
      "call",
      "message"
    ])
    const { stdout } = await runInProcess(["calls", "--storage", storage])
    expect(stdout.match(/gpt-4o {2}rebuilt/g)).toHaveLength(2)
  })
})
