import { describe, expect, it } from "vitest"
import { runInProcess } from "../CommandLine.ts"
import { serveAndRecordInProcess } from "../RecordingServer.ts"

const user = (content: string) => ({ role: "user", content })
const assistant = (content: string) => ({ role: "assistant", content })
const asks = (id: string, q: string) => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "search", arguments: JSON.stringify({ q }) } }]
})

/** Two sessions that answer one question, and ids of the calls of the first. */
const recorded = async () => {
  const { client, key, record, server, storage } = await serveAndRecordInProcess("admin")
  const call = async (session: string, prompt: string, messages: ReadonlyArray<object>, message: object) => {
    const inputs = { model: "gpt-4o", messages: [{ role: "system", content: prompt }, ...messages] }
    const usage = { prompt_tokens: 1_000, completion_tokens: 10 }
    const output = { model: "gpt-4o", choices: [{ index: 0, message, finish_reason: "stop" }], usage }
    const properties = { api: "provider1-chat-completions", inputs, output }
    const { event_id } = await record({
      session,
      agent: "support",
      agent_version: prompt,
      duration_ms: 1_200,
      properties
    })
    return event_id
  }
  const run = async (session: string, prompt: string, id: string, answer: string) => {
    const question = [user("Where is refund 4711?")]
    const found = [...question, asks(id, "4711"), { role: "tool", tool_call_id: id, content: "on its way" }]
    return [
      await call(session, prompt, question, asks(id, "4711")),
      await call(session, prompt, found, assistant(answer))
    ] as const
  }
  const ids = await run("order-4711", "Be short.", "call_a", "It is on its way to you.")
  await run("order-4712", "Be kind.", "call_b", "It is on its way to your bank.")
  await call("order-4712", "Be kind.", [user("Where is refund 4711?"), user("Thanks")], assistant("Gladly."))
  return { client, ids, key, server, storage }
}

const jsonLines = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

describe("tachograph diff", () => {
  it("says what two sessions are, what differs in their settings, and goes through their messages", async () => {
    const { server, storage } = await recorded()
    await server.stop()
    const { code, stderr, stdout } = await runInProcess(["diff", "order-4711", "order-4712", "--storage", storage])
    expect([code, stderr]).toEqual([0, ""])
    for (const line of [
      /^ +A +B$/m,
      /^session +order-4711 +order-4712$/m,
      /^version +Be short\. +Be kind\.$/m,
      /^calls +2 +3$/m,
      /^tokens +2,000 \(0 cached\) → 20 +3,000 \(0 cached\) → 30$/m,
      /^cost +\$0\.\d{4} +\$0\.\d{4}$/m,
      /^instructions\n {4}Be \[-short-\]\{\+kind\+\}\.$/m,
      /^tools: the same\nparameters: the same$/m,
      // The ids of the tool calls differ, and what they say does not.
      /^3 equal messages \(A 2–4, B 2–4\)$/m,
      /^\[A 5, B 5\] assistant differs\n.*\[-you-\]\{\+your bank\+\}\.$/m,
      /^\[\d\] user only in B\n {4}Thanks$/m,
      /^3 equal messages, 1 different, 0 only in A, 2 only in B\n$/m
    ]) {
      expect(stdout).toMatch(line)
    }
  })

  it("compares two calls, of a storage or of a server", async () => {
    const { ids, key, server, storage } = await recorded()
    const overHttp = await runInProcess(["diff", ...ids, "--json", "--url", server.url], { TACHOGRAPH_API_KEY: key })
    expect([overHttp.code, overHttp.stderr]).toEqual([0, ""])
    const [sides, ...rows] = jsonLines(overHttp.stdout)
    expect(sides).toMatchObject({
      kind: "sides",
      before: { call: { event_id: ids[0] }, instructions: "Be short.", tools: [], is_cut: false },
      after: { call: { event_id: ids[1] }, instructions: "Be short." }
    })
    expect(rows).toMatchObject([
      { kind: "equal", before: [2, 3], after: [2, 3] },
      { kind: "only-after", after: { role: "tool", number: 4 } },
      { kind: "only-after", after: { role: "assistant", parts: [{ content: "It is on its way to you." }] } },
      { kind: "end", equal: 2, different: 0, "only-before": 0, "only-after": 2, settings: [] }
    ])
    await server.stop()
    const { stdout } = await runInProcess(["diff", ...ids, "--storage", storage])
    expect(stdout).toMatch(/^ended +tool_calls +end$/m)
    expect(stdout).toMatch(/^\[4\] tool only in B$/m)
  })

  it("exits with 0 whether they differ or not, and with --exit-code as diff does", async () => {
    const { ids, server, storage } = await recorded()
    await server.stop()
    const codeOf = async (...args: ReadonlyArray<string>) =>
      (await runInProcess(["diff", ...args, "--storage", storage])).code
    expect(await codeOf("order-4711", "order-4712", "--exit-code")).toBe(1)
    expect(await codeOf("order-4711", "order-4711", "--exit-code")).toBe(0)
    for (const [options, code] of [
      [["--exit-code"], 2],
      [[], 1]
    ] as const) {
      const missing = await runInProcess(["diff", "order-4711", "nothing", ...options, "--storage", storage])
      expect(missing).toMatchObject({ code, stderr: 'tachograph: There is no session "nothing"\n' })
    }
    const mixed = await runInProcess(["diff", "order-4711", ids[0], "--storage", storage])
    expect([mixed.code, mixed.stderr]).toEqual([
      1,
      "tachograph: One is a session and the other a call: compare two sessions or two calls\n"
    ])
  })

  it("takes the beginning of a session's name, and says that several begin so", async () => {
    const { server, storage } = await recorded()
    await server.stop()
    const run = (...args: ReadonlyArray<string>) => runInProcess(["diff", ...args, "--storage", storage])
    expect((await run("order-4711", "order-471")).stderr).toMatch(
      /^tachograph: Several sessions begin with "order-471"/
    )
    const one = await runInProcess(["delete", "session", "order-4712", "--yes", "--storage", storage])
    expect(one.code).toBe(0)
    expect((await run("order-4711", "order-471")).stdout).toMatch(/^4 equal messages, 0 different/m)
  })
})
