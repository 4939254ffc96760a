import { AsyncLocalStorage } from "node:async_hooks"
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest"
import { createRecorder } from "../src/index.ts"
import { json, type Provider, startProvider } from "./Provider.ts"
import { startRecording } from "./Recording.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

beforeEach(() => {
  provider.requests.length = 0
})

const path = "/v1/chat/completions"
const inputs = '{"model": "m", "messages":[{"role":"user","content":"Hi"}], "seed":9007199254740993}'
const output = '{"id":"1", "object":"chat.completion",\n"choices":[],"n":12345678901234567890}'
const valid = { url: "http://127.0.0.1", apiKey: "k" }
const post = (fetch: typeof globalThis.fetch, body: string = inputs, headers: Record<string, string> = {}) =>
  fetch(provider.url + path, { method: "POST", body, headers: { "content-type": "application/json", ...headers } })

describe("createRecorder", () => {
  it("records the very bytes of the request and of the answer", async () => {
    const recording = await startRecording({ agent: "tester", agentVersion: "3", person: "p" })
    provider.answer = json(output)
    const response = await post(recording.recorder.fetch)
    expect(await response.text()).toBe(output)
    const [event] = await recording.events()
    expect(event).toMatchObject({ agent: "tester", agent_version: "3", person: "p" })
    expect(event!.properties.api).toBe("provider1-chat-completions")
    expect(event!.text).toContain(`"inputs":${inputs}`)
    expect(event!.text).toContain(`"output":${output}`)
    expect(recording.recorder.counters()).toEqual({
      recorded: 1,
      sent: 1,
      retried: 0,
      waiting: 0,
      postponed: 0,
      underWay: 0,
      making: 0,
      onDisk: 0,
      heldBytes: 0,
      dropped: {},
      unrecognised: {}
    })
  })

  it("sends the provider what it would get without it", async () => {
    const recording = await startRecording()
    provider.answer = json(output)
    await (await post(fetch)).text()
    await (await post(recording.recorder.fetch)).text()
    const [without, withTap] = provider.requests
    expect(withTap).toEqual(without)
  })

  it("does not record what is no model call", async () => {
    const recording = await startRecording()
    provider.answer = json(output)
    const { fetch } = recording.recorder
    await (await fetch(`${provider.url}/v1/models`)).text()
    await (await fetch(`${provider.url}/v1/embeddings`, { method: "POST", body: "{}" })).text()
    await (await fetch(provider.url + path)).text()
    expect(await recording.events()).toEqual([])
  })

  it("sends in no async context of the application, where it redacts", async () => {
    const requests = new AsyncLocalStorage<string>()
    const sentIn: Array<unknown> = []
    const redactedIn: Array<unknown> = []
    const tachograph = {
      fingerprint: async () => "f",
      record: async () => {
        sentIn.push(requests.getStore())
        // Others wait meanwhile.
        await new Promise((resolve) => setImmediate(resolve))
        if (sentIn.length === 1) throw Object.assign(new Error("busy"), { type: "overloaded" })
      }
    }
    const recorder = createRecorder({
      tachograph,
      concurrency: 1,
      redact: (event) => {
        redactedIn.push(requests.getStore())
        return event
      }
    })
    const call = { api: "aisdk", inputs: {}, output: {}, session: "s" } as const
    for (const name of ["first", "second", "third"]) requests.run(name, () => recorder.record(call))
    expect(await requests.run("flush", () => recorder.flush())).toBe(true)
    expect(sentIn).toEqual(Array(4).fill(undefined))
    expect(redactedIn).toEqual(["first", "second", "third"])
  })

  it("groups by `with`, which can be nested", async () => {
    const recording = await startRecording({ agent: "outermost" })
    provider.answer = json(output)
    await recording.recorder.with({ agent: "outer", session: "s1", person: "p1" }, () =>
      recording.recorder.with({ agent: "inner", person: undefined }, async () => {
        await Promise.resolve()
        await (await post(recording.recorder.fetch)).text()
      })
    )
    await (await post(recording.recorder.fetch)).text()
    const [inner, outermost] = await recording.events()
    expect(inner).toMatchObject({ agent: "inner", session: "s1", person: "p1" })
    expect(outermost).toMatchObject({ agent: "outermost", person: null })
    expect(outermost!.session).toMatch(/^[0-9a-f]{64}$/)
  })

  it("groups by what a coding agent says of itself, where the application says nothing", async () => {
    const recording = await startRecording()
    const { recorder } = recording
    provider.answer = json(output)
    const session = "01a222f2-c370-7790-8b11-8f78c5f4db93"
    const product = { "user-agent": "codex_exec/0.171.0 (Debian 12.0.0; x86_64)" }
    const codex = { ...product, "session-id": session, "thread-id": "01a22559-4def-7aa3-ac0a-68168b1dd72b" }
    await (await post(recorder.fetch, inputs, codex)).text()
    const keyed = inputs.replace("{", `{"prompt_cache_key":"${session}",`)
    await (await post(recorder.fetch, keyed, product)).text()
    await (await post(recorder.fetch, keyed)).text()
    await recorder.with({ agent: "reviewer", session: "mine" }, async () =>
      (await post(recorder.fetch, inputs, codex)).text()
    )
    const events = await recording.events()
    const subagent = codex["thread-id"]
    expect(events.map((event) => [event.session, event.agent, event.agent_version, event.recorded])).toEqual([
      [session, "codex", "0.171.0", { subagent }],
      [session, "codex", "0.171.0", null],
      [expect.stringMatching(/^[0-9a-f]{64}$/), "default", "default", null],
      ["mine", "reviewer", "default", { subagent }]
    ])
  })

  it("keeps metadata and the ids of a trace that `with` is given, as they are then", async () => {
    const recording = await startRecording()
    const { recorder } = recording
    const record = (n: number, more: object = {}) =>
      recorder.record({ api: "aisdk", inputs: { n }, output: {}, ...more })
    const metadata = { ticket: 17, of: { plan: "pro" } }
    const [traceId, spanId] = ["ab".repeat(16), "cd".repeat(8)]
    await recorder.with({ metadata, traceId, spanId }, async () => {
      metadata.of.plan = "changed"
      await Promise.resolve()
      record(1)
      recorder.with({ metadata: { inner: true }, spanId: "ef".repeat(8) }, () => record(2))
      recorder.with({ metadata: null as never, traceId: "0".repeat(32), spanId: "" }, () => record(3))
      record(4, { metadata: { own: 1 } })
    })
    record(5)
    expect(await recording.events()).toMatchObject([
      { metadata: { ticket: 17, of: { plan: "pro" } }, trace_id: traceId, span_id: spanId },
      { metadata: { inner: true }, trace_id: traceId, span_id: "ef".repeat(8) },
      { metadata: null, trace_id: null, span_id: null },
      { metadata: { own: 1 }, trace_id: traceId, span_id: spanId },
      { metadata: null, trace_id: null, span_id: null }
    ])
  })

  it("records a call without the metadata and ids that no event can have, and says so once", async () => {
    const recording = await startRecording()
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
    const cycle: Record<string, unknown> = {}
    cycle["self"] = cycle
    const longest = { text: "é".repeat((16 * 1024 - '{"text":""}'.length - 1) / 2) + "a" }
    const given = [
      { metadata: longest },
      { metadata: { text: `${longest.text}a` } },
      { metadata: cycle },
      { metadata: [1] },
      { metadata: "text" },
      { traceId: "AB".repeat(16), spanId: "1".repeat(32) },
      { traceId: 7 }
    ]
    for (const context of given)
      recording.recorder.with(context as object, () =>
        recording.recorder.record({ api: "aisdk", inputs: {}, output: {} })
      )
    const events = await recording.events()
    expect(events.map(({ metadata, span_id, trace_id }) => [metadata, trace_id, span_id])).toEqual([
      [longest, null, null],
      ...Array(6).fill([null, null, null])
    ])
    expect(recording.drops).toEqual([])
    expect(warn.mock.calls).toEqual([
      ["Tachograph: metadata of more than 16 KiB of JSON is left out."],
      ["Tachograph: metadata that is no object, or has no JSON text, is left out."],
      ["Tachograph: traceId is left out: expected 32 hexadecimal digits in lower case."],
      ["Tachograph: spanId is left out: expected 16 hexadecimal digits in lower case."]
    ])
    warn.mockRestore()
  })

  it("masks credentials in metadata", async () => {
    const recording = await startRecording()
    provider.answer = json(output)
    const key = "sk-test-0123456789abcdefghij"
    await recording.recorder.with({ metadata: { key: `it is ${key}` } }, async () => {
      await (await post(recording.recorder.fetch, inputs, { authorization: `Bearer ${key}` })).text()
    })
    const [event] = await recording.events()
    expect(event!.text).not.toContain(key)
    expect(event!.metadata).toEqual({ key: expect.stringMatching(/^it is /) })
  })

  it("hands `with` a recorder that is bound to its fields", async () => {
    const recording = await startRecording()
    provider.answer = json(output)
    const bound = recording.recorder.with({ session: "bound", agent: "a" }, (recorder) => recorder)
    const nested = bound.with({ agent: "b" }, (recorder) => recorder)
    await (await post(nested.fetch)).text()
    expect(await recording.events()).toMatchObject([{ session: "bound", agent: "b" }])
  })

  it("records what the application records itself", async () => {
    const recording = await startRecording()
    recording.recorder.record({
      api: "aisdk",
      inputs: { prompt: "Hi" },
      output: '{"n":1.0}',
      session: "s",
      httpStatus: 200
    })
    const [event] = await recording.events()
    expect(event!.properties.api).toBe("aisdk")
    expect(event!.text).toContain('"output":{"n":1.0}')
  })

  it("holds no more of what the application records than it may", async () => {
    const recording = await startRecording({ maxBytes: 100_000 })
    const call = { api: "aisdk", inputs: { text: "x".repeat(10_000) }, output: {}, session: "s" } as const
    for (let n = 0; n < 50; n++) recording.recorder.record(call)
    const { heldBytes } = recording.recorder.counters()
    expect(heldBytes).toBeGreaterThan(80_000)
    expect(heldBytes).toBeLessThanOrEqual(100_000)
    expect(await recording.events()).toHaveLength(9)
    expect(recording.recorder.counters()).toMatchObject({ heldBytes: 0, dropped: { memory: 41 } })
  })

  it("makes no more events at once than may wait", async () => {
    const recording = await startRecording({ maxEvents: 5 })
    for (let n = 0; n < 8; n++) recording.recorder.record({ api: "aisdk", inputs: { n }, output: {}, session: "s" })
    expect(recording.drops).toEqual(Array(3).fill({ reason: "queue-full" }))
    expect(await recording.events()).toHaveLength(5)
  })

  it("records in a page that was not loaded over https, each call as a session", async () => {
    const { getRandomValues } = crypto
    const recording = await startRecording()
    vi.stubGlobal("crypto", { getRandomValues: getRandomValues.bind(crypto) })
    const modules = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)
    try {
      recording.recorder.record({ api: "aisdk", inputs: {}, output: {} })
      recording.recorder.record({ api: "aisdk", inputs: {}, output: {} })
      expect(await recording.recorder.flush()).toBe(true)
    } finally {
      vi.unstubAllGlobals()
      modules.mockRestore()
    }
    const sessions = (await recording.events()).map(({ session }) => session)
    expect(new Set(sessions).size).toBe(2)
    for (const session of sessions)
      expect(session).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect(recording.drops).toEqual([])
  })

  it("is flushed at the end of a block with `await using`, and goes on after one with `using`", async () => {
    const recording = await startRecording()
    const call = { api: "aisdk", inputs: { n: 1 }, output: {}, session: "s" } as const
    {
      await using recorder = recording.recorder
      recorder.record(call)
    }
    expect(recording.recorder.counters()).toMatchObject({ sent: 1, waiting: 0 })
    {
      using recorder = recording.recorder
      recorder.record(call)
    }
    expect(recording.recorder.counters().sent).toBe(1)
    expect(await recording.events()).toHaveLength(2)
  })

  it("goes on whatever the functions of the application do, and never throws from `record`", async () => {
    const rejects = (async () => {
      throw new Error("no")
    }) as never
    const throws = (() => {
      throw new Error("no")
    }) as never
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const recording = await startRecording({ waitUntil: rejects, onDrop: rejects })
    const call = { api: "aisdk", inputs: {}, output: {} } as const
    recording.recorder.record({ ...call, waitUntil: throws })
    recording.recorder.record({ ...call, waitUntil: {} as never, session: "s" })
    expect(warn.mock.calls).toEqual([
      ["Tachograph: waitUntil throws, so that the platform does not wait for calls: no."]
    ])
    const awaited: Array<Promise<unknown>> = []
    const waitUntil = (promise: Promise<unknown>) => void awaited.push(promise)
    recording.recorder.record({ ...call, occurredAt: new Date(Number.NaN), waitUntil })
    expect(awaited).toEqual([])
    recording.recorder.record(undefined as never)
    recording.recorder.record(call)
    expect(await recording.events()).toHaveLength(3)
    expect(recording.recorder.counters().dropped).toEqual({ unreadable: 2 })
  })

  it("records the model of a call whose inputs do not say it", async () => {
    const recording = await startRecording()
    recording.recorder.record({ api: "provider3-models", model: "gemini-x", inputs: { contents: [] }, output: {} })
    expect(await recording.events()).toMatchObject([{ model: "gemini-x" }])
  })

  it("sends nothing of an event whose `redact` answers a promise", async () => {
    const redact = (async () => {
      throw new Error("too late")
    }) as never
    const recording = await startRecording({ redact })
    recording.recorder.record({ api: "aisdk", inputs: { n: 1 }, output: {} })
    expect(await recording.events()).toEqual([])
    expect(recording.drops).toMatchObject([{ reason: "redacted", cause: new TypeError("redact answers a promise") }])
  })

  it.each<[what: string, answer: () => unknown, message: string]>([
    ["has no JSON text", () => ({ properties: {}, toJSON: () => undefined }), "redact answers no event"],
    [
      "holds itself",
      () => ((all: object) => Object.assign(all, { all }))({ properties: {} }),
      "redact answers what has no JSON text"
    ],
    ["holds a BigInt", () => ({ properties: { n: 1n } }), "redact answers what has no JSON text"],
    ["is empty", () => ({}), "redact answers no event"],
    ["is a map", () => new Map(), "redact answers no event"]
  ])("sends nothing where what `redact` answers %s", async (_, answer, message) => {
    const recording = await startRecording({ redact: answer as never })
    recording.recorder.record({ api: "aisdk", inputs: {}, output: {} })
    expect(await recording.events()).toEqual([])
    expect(recording.drops).toMatchObject([{ reason: "redacted", cause: { message } }])
  })

  it.each(["{bad", '{}},"session":"other","a":{"b":{}', "[]", ""])(
    "records no output that is no object: %s",
    async (output) => {
      const recording = await startRecording()
      recording.recorder.record({ api: "aisdk", inputs: {}, output })
      expect(await recording.events()).toEqual([])
      expect(recording.drops).toMatchObject([
        { reason: "unreadable", cause: { message: "output: expected an object, or the JSON text of one" } }
      ])
    }
  )

  it("tells what `redact` threw from what it did not answer, each once, and nothing of what it left out", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
    const recording = await startRecording({
      onDrop: undefined,
      redact: ({ properties }) => {
        if (properties.inputs["n"] === 1) throw new Error("no such field")
        return properties.inputs["n"] === 2 ? null : undefined
      }
    })
    for (const n of [2, 0, 1, 0, 1, 2]) recording.recorder.record({ api: "aisdk", inputs: { n }, output: {} })
    expect(await recording.events()).toEqual([])
    const where = "See recorder.counters() for how many."
    expect(warn.mock.calls.flat()).toEqual([
      `Tachograph: a call is not recorded (redacted): redact answers no event. ${where}`,
      `Tachograph: a call is not recorded (redacted): redact threw: no such field. ${where}`
    ])
    warn.mockRestore()
  })

  const itself: Record<string, unknown> = {}
  itself["itself"] = itself
  const call = { api: "aisdk", inputs: {}, output: {} }

  it.each([
    ["record: expected an object with api, inputs and output", undefined],
    ["record: expected an object with api, inputs and output", { inputs: {}, output: {} }],
    ["inputs: expected an object, or the JSON text of one", { api: "aisdk", output: {} }],
    ["inputs: expected an object, or the JSON text of one", { ...call, inputs: [1] }],
    ["inputs: expected an object, or the JSON text of one", { ...call, inputs: "not JSON" }],
    ["inputs: expected the JSON text of an object", { ...call, inputs: "{not JSON" }],
    ["output: expected an object, or the JSON text of one", { api: "aisdk", inputs: {} }],
    ["output: expected an object, or the JSON text of one", { ...call, output: "hello" }],
    ["Converting circular structure", { ...call, output: itself }],
    ["occurredAt: expected a Date", { ...call, occurredAt: "2026-11-27T09:00:00Z" }],
    ["occurredAt: expected a Date", { ...call, occurredAt: new Date(Number.NaN) }]
  ])("says what `record` expects: %s (%#)", async (message, given) => {
    const recording = await startRecording()
    recording.recorder.record(given as never)
    expect(await recording.events()).toEqual([])
    expect(recording.drops).toMatchObject([
      { reason: "unreadable", cause: { message: expect.stringContaining(message) } }
    ])
  })

  it("runs a function of `with` without fields", async () => {
    const recording = await startRecording()
    expect(recording.recorder.with(null as never, () => 7)).toBe(7)
  })

  it("ends the wait of the platform for a call that has no answer", async () => {
    const recording = await startRecording()
    const waited: Array<Promise<unknown>> = []
    const waitUntil = (promise: Promise<unknown>) => void waited.push(promise)
    for (const output of [undefined, { toJSON: () => undefined }, () => {}]) {
      recording.recorder.record({ api: "aisdk", inputs: {}, output: output as never, waitUntil })
    }
    await Promise.all(waited)
    expect(waited).toHaveLength(3)
    expect(recording.recorder.counters()).toMatchObject({ heldBytes: 0, dropped: { unreadable: 3 } })
  })

  it("lets `redact` change events and leave them out", async () => {
    const recording = await startRecording({
      redact: (event) => {
        const { model } = event.properties.inputs
        if (model === "throws") throw new Error("no")
        if (model === "nothing") return null
        return { ...event, person: "someone", properties: { ...event.properties, output: { redacted: true } } }
      }
    })
    provider.answer = json(output)
    for (const model of ["m", "throws", "nothing"]) {
      const response = await post(recording.recorder.fetch, JSON.stringify({ model, messages: [] }))
      expect(await response.text()).toBe(output)
    }
    const events = await recording.events()
    expect(events).toMatchObject([{ person: "someone", properties: { output: { redacted: true } } }])
    expect(recording.drops.map(({ reason }) => reason)).toEqual(["redacted", "redacted"])
  })

  it.each([
    ["url: expected", { url: "tachograph", apiKey: "k" }],
    ["url: expected http://… or https://…", { url: "127.0.0.1:4400", apiKey: "k" }],
    ["url: expected", { url: null, apiKey: "k" }],
    ["url: expected", { url: "ftp://127.0.0.1" }],
    ["apiKey: expected", { url: "http://127.0.0.1", apiKey: 5 }],
    ["apiKey: expected", { apiKey: "a\nb" }],
    ["not both", { url: "http://127.0.0.1", tachograph: { record: () => {} } }],
    ["tachograph: expected the result of createTachograph", { tachograph: {} }],
    ["options: expected an object", undefined],
    ["agentt: there is no such option (did you mean agent?)", { ...valid, agentt: "a" }],
    ["toString: there is no such option; there are url, apiKey, ", { ...valid, toString: () => "" }],
    ["concurrency: expected a number from 1 on", { ...valid, concurrency: 0 }],
    ["timeoutMs: expected a time in ms above 0", { ...valid, timeoutMs: -1 }],
    ["maxEvents: expected a number from 1 on", { ...valid, maxEvents: "10k" }],
    ["maxBytes: expected a number from 1 on", { ...valid, maxBytes: Number.NaN }],
    ["redact: expected the text of a list of patterns, or a function", { ...valid, redact: 17 }],
    ["spool: expected the path of a folder", { ...valid, spool: 5 }],
    [`packages: expected "direct", "all" or "none"`, { ...valid, packages: "directt" }],
    ["project: leave it out with a url", { ...valid, project: "other" }],
    ["agnet: there is no such option (did you mean agent?)", { ...valid, agnet: "a" }],
    ["api_key: there is no such option (did you mean apiKey?)", { ...valid, api_key: "a" }],
    ["fingerprint: expected an object of fields", { ...valid, fingerprint: [] }],
    ["fingerprint.language: expected a text", { ...valid, fingerprint: { language: 5 } }],
    [
      "fingerprint.gitBranch: there is no such field (did you mean git_branch?)",
      { ...valid, fingerprint: { gitBranch: "" } }
    ],
    ["fingerprint.all_packages: expected versions", { ...valid, fingerprint: { all_packages: { effect: 4 } } }],
    ["session: expected a text", { ...valid, session: 17 }]
  ])("rejects wrong options: %s", (message, options) => {
    expect(() => createRecorder(options as never)).toThrow(message)
  })
})

it("says once which names it does not know, and records all the same", async () => {
  const recording = await startRecording()
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
  for (let n = 0; n < 2; n++) {
    recording.recorder.with({ sesion: "s", agent: "a" } as object, () => {
      recording.recorder.record({ api: "aisdk", inputs: { n }, output: {}, duration: 5 } as never)
    })
    await recording.recorder.flush({ timeout: 5_000 } as object)
  }
  expect(warn.mock.calls).toEqual([
    ["Tachograph: with does not know sesion (did you mean session?)."],
    ["Tachograph: record does not know duration (did you mean durationMs?)."],
    ["Tachograph: flush does not know timeout (did you mean timeoutMs?)."]
  ])
  warn.mockRestore()
  expect(await recording.events()).toMatchObject([{ agent: "a" }, { agent: "a" }])
})

describe("a recorder without an address or a key", () => {
  it.each([
    ["url and apiKey are", {}],
    ["url and apiKey are", { url: undefined, apiKey: undefined }],
    ["url is", { url: "", apiKey: "k", session: "s" }],
    ["apiKey is", { url: "http://127.0.0.1:1" }],
    ["apiKey is", { url: "http://127.0.0.1:1", apiKey: "" }]
  ])("says once that %s missing (%#), and is off", async (missing, options) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
    const recorder = createRecorder(options)
    expect(warn.mock.calls).toEqual([[`Tachograph: nothing is recorded, because ${missing} missing.`]])
    provider.answer = json(output)
    const before = globalThis.fetch
    const takeOff = recorder.install()
    expect(globalThis.fetch).toBe(before)
    takeOff()
    for (const { fetch } of [recorder, recorder.with({ session: "s" }, (bound) => bound)]) {
      expect(await (await post(fetch)).text()).toBe(output)
    }
    recorder.record({ api: "aisdk", inputs: {}, output: {} })
    recorder.aiSdk.onStepStart({})
    expect(await recorder.aiSdk.executeLanguageModelCall({ execute: async () => 7 })).toBe(7)
    expect(await recorder.flush()).toBe(true)
    await recorder.spooled()
    expect(recorder.counters()).toEqual({
      recorded: 0,
      sent: 0,
      retried: 0,
      waiting: 0,
      postponed: 0,
      underWay: 0,
      making: 0,
      onDisk: 0,
      heldBytes: 0,
      dropped: {},
      unrecognised: {}
    })
    await expect({ ...recorder }.api.listEvents()).rejects.toThrow("recorder.api: this recorder is off")
    expect(warn.mock.calls).toHaveLength(1)
    warn.mockRestore()
  })

  it("calls the `fetch` that it is given, as a function and as a method, and with its properties", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
    const response = new Response("own")
    // As that of a browser, which refuses to be a method of something else.
    const own = function (this: unknown) {
      if (this !== undefined && this !== globalThis) throw new TypeError("Illegal invocation")
      return Promise.resolve(response)
    }
    const preconnect = () => {}
    const recorder = createRecorder({ fetch: Object.assign(own, { preconnect }) as never })
    expect(await recorder.fetch("http://127.0.0.1:1")).toBe(response)
    expect(recorder.fetch).toHaveProperty("preconnect", preconnect)
    warn.mockRestore()
  })
})

it("says what `with` expects where it gets a text", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
  const recording = await startRecording()
  expect(recording.recorder.with("ticket-17" as never, () => 1)).toBe(1)
  expect(warn.mock.calls).toEqual([["Tachograph: with expects an object."]])
  warn.mockRestore()
})
