import { expect, it } from "vitest"
import { runInProcess } from "../CommandLine.ts"
import { serveAndRecordInProcess } from "../RecordingServer.ts"

/** Records calls of versions of an agent, each by default of one model that has a price. */
const begin = async () => {
  const { client, record, server, storage } = await serveAndRecordInProcess("admin")
  const call = (agent_version: string, session: string, inputs: object, fields: object = {}) => {
    const output = {
      model: "gpt-4o",
      choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1_000, completion_tokens: 10 }
    }
    const { tools, prompt = "You help.\nBe short.", ...others } = inputs as Record<string, unknown>
    const messages = [
      { role: "system", content: prompt },
      { role: "user", content: "Hello" }
    ]
    const all = { model: "gpt-4o", messages, ...(tools === undefined ? {} : { tools }), ...others }
    const properties = { api: "provider1-chat-completions", inputs: all, output }
    return record({ agent: "support", agent_version, session, duration_ms: 1_000, properties, ...fields })
  }
  const compared = async (...args: ReadonlyArray<string>) => {
    const { code, stderr, stdout } = await runInProcess([
      "compare",
      "support",
      "v1",
      "v2",
      ...args,
      "--storage",
      storage
    ])
    expect([code, stderr]).toEqual([0, ""])
    return stdout
  }
  return { call, client, compared, server }
}

it("compares figures per session and per call, and says what is better and worse", async () => {
  const { call, compared, server } = await begin()
  await call("v1", "a", {})
  await call("v1", "a", {})
  await call("v1", "b", {}, { duration_ms: 3_000 })
  const tools = [{ type: "function", function: { name: "find" } }]
  await call("v2", "c", { tools, prompt: "You help.\nBe kind." }, { duration_ms: 500 })
  await server.stop()
  const stdout = await compared()
  for (const line of [
    /^model: gpt-4o, the same\n\n +v1 +v2$/m,
    // All calls have a price.
    /^ {2}errors .*\n\n/m,
    /^in all\n {2}sessions +2 +1 +−50 %\n {2}calls +3 +1 +−67 %$/m,
    /^per session\n {2}cost, mean +\$0\.0039 +\$0\.0026 +−33 % better$/m,
    /^ {2}cost, median +\$0\.0039 +\$0\.0026 +−33 % better$/m,
    /^ {2}cost, p95 +\$0\.0052 +\$0\.0026 +−50 % better\n {2}calls +1\.5 +1\.0 +−33 %\n {2}tokens +1,515 +1,010 +−33 %$/m,
    /^per call\n {2}cost +\$0\.0026 +\$0\.0026 +the same\n {2}tokens in +1,000 +1,000 +the same$/m,
    /^ {2}duration, p50 +1\.0 s +498 ms +−50 % better$/m,
    /^ {2}errors +0\.0 % +0\.0 % +the same$/m,
    // By words.
    /^instructions\n {4}You help\.\n {4}Be \[-short-\]\{\+kind\+\}\.$/m,
    // Nothing was taken away.
    /^tools\n\+\{$/m,
    /^parameters: the same$/m,
    /^runtime: the same\n$/m
  ]) {
    expect.soft(stdout).toMatch(line)
  }
})

it("marks what is not whole, and judges it neither better nor worse", async () => {
  const { call, compared, server } = await begin()
  await call("v1", "a", {})
  await call("v2", "b", {})
  await call("v2", "b", {}, { properties: { api: "provider1-chat-completions", inputs: {}, output: {} } })
  await server.stop()
  const stdout = await compared()
  expect(stdout).toMatch(/^ {2}cost, mean +\$0\.0026 +\$0\.0026\+$/m)
  expect(stdout).toMatch(/^ {2}cost +\$0\.0026 +\$0\.0013\+$/m)
  expect(stdout).toMatch(/^ {2}calls +1 +2 +\+100 %$/m)
  expect(stdout).toMatch(/^\+ is at least so much: /m)
})

it("begins with the models, and their parts of the calls where there are several", async () => {
  const { call, compared, server } = await begin()
  await call("v1", "a", {})
  for (const model of ["gpt-5", "gpt-5", "gpt-5", "gpt-4o"]) await call("v2", "b", { model })
  await server.stop()
  expect(await compared()).toMatch(/^the model changed\n-v1: gpt-4o\n\+v2: gpt-5 75 %, gpt-4o 25 %\n\n/)
})

it("compares the configurations with most calls, and of as many those that were used last, whenever they were recorded", async () => {
  const { call, compared, server } = await begin()
  const [earlier, later] = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]
  await call("v1", "a", { temperature: 0.1 }, { occurred_at: later })
  await call("v1", "a", { temperature: 0.2 }, { occurred_at: earlier })
  await call("v2", "b", { temperature: 0.3 })
  await call("v2", "b", { temperature: 0.3 })
  await call("v2", "b", { temperature: 0.4 })
  await server.stop()
  const [v1, v2] = (await compared("--json"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect([v1, v2]).toMatchObject([
    { version: "v1", configuration: { parameters: { temperature: 0.1 } }, usage: { events: 2, sessions: 1 } },
    { version: "v2", configuration: { parameters: { temperature: 0.3 } }, models: [{ model: "gpt-4o", events: 3 }] }
  ])
  expect(v1.fingerprint).toMatchObject({ language: "l" })
})

it("compares runtimes without the ids and times under which they are kept", async () => {
  const { call, client, compared, server } = await begin()
  const other = { language: "l", language_version: "v", system: "another" }
  const { fingerprint_id } = (await client.put("/api/v1/fingerprints", other)).body
  await call("v1", "a", {})
  await call("v2", "b", {}, { fingerprint_id })
  await server.stop()
  const [, runtime] = (await compared()).split("\nruntime\n")
  expect(runtime!.split("\n").filter((line) => /^[-+]/.test(line))).toEqual([
    expect.stringContaining('"system": "s"'),
    expect.stringContaining('"system": "another"')
  ])
})
