import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest"
import { createApi } from "../src/api.ts"
import { createRecorder, type RecorderOptions } from "../src/index.ts"
import { json, type Provider, startProvider } from "./Provider.ts"
import { startRecording } from "./Recording.ts"
import { messages } from "./sdk/Wire.ts"
import { apiKey, refuse, startServer } from "./Server.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

const warnings: Array<unknown> = []

beforeEach(() => {
  warnings.length = 0
  vi.spyOn(console, "warn").mockImplementation((...said: ReadonlyArray<unknown>) => void warnings.push(...said))
})

afterEach(() => {
  vi.restoreAllMocks()
})

const planted = "sk-planted-key-of-provider"
const body = JSON.stringify(messages.request)

/** Everything that a value shows when it is printed: stacks, causes and other properties. */
const shown = (...values: ReadonlyArray<unknown>): string =>
  values.map((value) => inspect(value, { depth: 10, showHidden: true })).join("\n")

const rejection = (run: () => Promise<unknown>): Promise<unknown> =>
  run().then(
    () => undefined,
    (error: unknown) => error
  )

describe("a header of the application that cannot be sent", () => {
  it.each<[string, () => unknown]>([
    ["a record", () => ({ authorization: `Bearer ${planted}\nx` })],
    ["a record with a header of another name", () => ({ "x-mine": `${planted}\n${planted}` })],
    ["a record with the key as a name", () => ({ [`${planted}\n`]: "x-api-key" })],
    ["pairs", () => [["x-api-key", `${planted}\r\nx-other: 1`]]],
    ["an iterator", () => [["x-api-key", `${planted}\u0000`]].values()],
    ["a value of several bytes", () => ({ "x-api-key": `${planted}…` })]
  ])("fails as without the tap, and is in no event, warning or cause: %s", async (_name, headers) => {
    const recording = await startRecording()
    const warned = await startRecording({ onDrop: undefined })
    const post = (fetch: typeof globalThis.fetch) =>
      rejection(() => fetch(`${provider.url}/v1/messages`, { method: "POST", body, headers: headers() as never }))
    const plain = (await post(fetch)) as Error
    expect(plain).toBeInstanceOf(TypeError)
    for (const { recorder } of [recording, warned]) {
      const tapped = (await post(recorder.fetch)) as Error
      expect([tapped.constructor, tapped.message]).toEqual([TypeError, plain.message])
    }
    const [event] = await recording.events()
    await warned.recorder.flush()
    expect(event!.properties.output).toMatchObject({ error: { type: "connection_error" } })
    expect(shown(event!.text, recording.drops, recording.recorder.counters(), warnings)).not.toContain(planted)
    expect(recording.drops).toEqual([])
  })
})

describe("a credential", () => {
  const sent = async (headers: Record<string, string>, query: string, answer: unknown, text: string) => {
    const recording = await startRecording()
    provider.answer = json(answer)
    await recording.recorder.with({ person: planted, session: `chat of ${planted}` }, async () => {
      const answered = await recording.recorder.fetch(`${provider.url}/v1/messages${query}`, {
        method: "POST",
        body: text,
        headers
      })
      await answered.text()
    })
    return { recording, events: await recording.events() }
  }

  it("that is a number leaves the event JSON", async () => {
    const request = { ...messages.request, metadata: { account: 1234567890 } }
    const answer = { ...messages.answer, account: 1234567890 }
    const { events, recording } = await sent({ "x-api-key": "1234567890" }, "", answer, JSON.stringify(request))
    expect(recording.drops).toEqual([])
    expect(events[0]!.properties.inputs).toMatchObject({ metadata: { account: "[redacted]" } })
    expect(events[0]!.properties.output).toMatchObject({ account: "[redacted]" })
  })

  it("at a place of the wire in the body is masked, also where the answer repeats it, and the event says so", async () => {
    const servers = `"mcp_servers":[{"type":"url","url":"https://a","authorization_token":"${planted}"}]`
    const text = body.replace("{", `{ ${servers}, `)
    const { events } = await sent({}, "", { ...messages.answer, echo: `You sent ${planted}` }, text)
    const masked = text.replaceAll(planted, "[redacted]")
    expect(events[0]!.text).toContain(`"inputs":${masked}`)
    expect(events[0]!.properties.output).toMatchObject({ echo: "You sent [redacted]" })
    // With the person and the session.
    expect(JSON.parse(events[0]!.text).recorded).toEqual({ redacted: 4 })
  })

  it("at such a place is masked in a call that the application records itself", async () => {
    const recording = await startRecording()
    const inputs = `{"model":"m","api_key":"${planted}","n": 1.0}`
    recording.recorder.record({ api: "provider1-chat-completions", inputs, output: {}, session: "own" })
    const [event] = await recording.events()
    expect(event!.text).toContain(`"inputs":{"model":"m","api_key":"[redacted]","n": 1.0}`)
    expect(JSON.parse(event!.text).recorded).toEqual({ redacted: 1 })
  })

  it("or another text that a pattern matches is in no event, and the rest of it stays as it came", async () => {
    const spool = mkdtempSync(join(tmpdir(), "tachograph-"))
    onTestFinished(() => rmSync(spool, { recursive: true }))
    const recording = await startRecording({ redact: "# ours\nours-\\d+", spool })
    const inputs = `{ "model":"m", "n": 1.0, "content":"\\u006furs-1 and ours-2é", "ours-3":[]}`
    const call = { api: "provider1-chat-completions", inputs, output: { content: "ours-4" } } as const
    recording.recorder.record({ ...call, session: "ours-5", person: "ours-6", model: "ours-7" })
    const [event] = await recording.events()
    expect(event!.text).toContain(
      `"inputs":{ "model":"m", "n": 1.0, "content":"[redacted] and [redacted]é", "[redacted]":[]}`
    )
    expect(event!.text).not.toContain("ours-")
    expect(JSON.parse(event!.text).recorded).toEqual({ redacted: 7 })
    for (const redact of ["(a", "", 7]) expect(() => createRecorder({ redact } as never)).toThrow(/^redact: /)
  })

  it("in the query is known as it was sent, too", async () => {
    const [raw, other] = ["PLANTED%2dodd%2d0123456789%2f%2b", "PLANTED-odd-0123456789/+"]
    const { events } = await sent({}, `?sig=${raw}`, { ...messages.answer, echo: `${raw} ${other}` }, body)
    expect(events[0]!.properties.output).toMatchObject({ echo: "[redacted] [redacted]" })
  })

  it("names no person and no session", async () => {
    const { events } = await sent({ "x-api-key": planted }, "", messages.answer, body)
    expect([events[0]!.person, events[0]!.session]).toEqual(["[redacted]", "chat of [redacted]"])
    expect(events[0]!.text).not.toContain(planted)
  })
})

describe("a request that cannot be read", () => {
  it("is counted, without the words of what went wrong", async () => {
    const recording = await startRecording()
    const init = {
      method: "POST",
      body,
      get headers(): never {
        throw new Error(`no ${planted}`)
      }
    }
    await expect(recording.recorder.fetch(`${provider.url}/v1/messages`, init)).rejects.toThrow(planted)
    expect(recording.drops).toMatchObject([{ reason: "unreadable" }])
    expect(shown(recording.drops)).not.toContain(planted)
  })
})

describe("the key of a recorder", () => {
  const key = "tg_planted-key-of-recorder"

  it.each([`${key}\n${key}`, `${key}\r\nx-other: 1`, `${key}\u0000`, `${key}…`, " \n"])(
    "is refused where it cannot be sent, and not printed: %j",
    (apiKey) => {
      for (const create of [createRecorder, createApi]) {
        let error: unknown
        try {
          create({ url: "http://127.0.0.1:4400", apiKey } as never)
        } catch (thrown) {
          error = thrown
        }
        expect(error).toBeInstanceOf(TypeError)
        expect((error as Error).message).toMatch(/^apiKey: expected/)
        expect(shown(error)).not.toContain(key)
      }
    }
  )

  it.each(["http://user:PLANTED@127.0.0.1", "http://PLANTED@127.0.0.1/", "http://127.0.0.1/?key=PLANTED"])(
    "is refused as a part of the address: %s",
    (address) => {
      const url = address.replace("PLANTED", key)
      for (const create of [createRecorder, createApi]) {
        expect(() => create({ url, apiKey: "k" } as never)).toThrow(/^url: expected/)
        expect(() => create({ url, apiKey: "k" } as never)).not.toThrow(key)
      }
    }
  )

  it.each<[string, Partial<RecorderOptions>]>([
    [
      "a `fetch` that repeats what it was given",
      {
        fetch: (async (input, init) => {
          const cause = Object.assign(new Error(JSON.stringify(init?.headers)), { options: init })
          throw new Error(`${String(input)} ${JSON.stringify(init)}`, { cause })
        }) as typeof fetch
      }
    ],
    ["a server that repeats it", {}]
  ])("is in no warning, cause or counter: %s", async (_name, options) => {
    const server = await startServer()
    server.intercept = (request, response) =>
      refuse(400, `unknown ${request.headers.authorization!}`)(request, response)
    const drops: Array<unknown> = []
    const record = async (more: Partial<RecorderOptions>) => {
      const recorder = createRecorder({ url: server.url, apiKey: key, ...options, ...more } as RecorderOptions)
      recorder.record({ api: "aisdk", inputs: {}, output: {} })
      await recorder.flush({ timeoutMs: 1_500 })
      return recorder.counters()
    }
    const counters = [await record({ onDrop: (drop) => void drops.push(drop) }), await record({})]
    expect(warnings.length).toBeGreaterThan(0)
    expect(shown(drops, counters, warnings)).not.toContain(key)
  })

  it("is sent without the line break at the end of the file that it was read from", async () => {
    const server = await startServer()
    const recorder = createRecorder({ url: server.url, apiKey: `${apiKey}\n` })
    recorder.record({ api: "aisdk", inputs: {}, output: {} })
    expect(await recorder.flush()).toBe(true)
    expect(await server.events()).toHaveLength(1)
  })
})

describe("a header that can be sent", () => {
  it("is masked in what the provider repeats", async () => {
    const recording = await startRecording()
    provider.answer = json({ error: { message: `Wrong key ${planted}` } }, 401)
    const headers = { authorization: `Bearer ${planted}\n` }
    await (await recording.recorder.fetch(`${provider.url}/v1/messages`, { method: "POST", body, headers })).text()
    const [event] = await recording.events()
    expect(event!.properties.output).toMatchObject({ error: { message: "Wrong key [redacted]" } })
  })
})
