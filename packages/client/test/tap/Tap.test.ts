import { getRequestListener } from "@hono/node-server"
import type { ServerResponse } from "node:http"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { beforeAll, describe, expect, it } from "vitest"
import { json, type Provider, startProvider } from "../Provider.ts"
import { type Recording, startRecording } from "../Recording.ts"
import { messages } from "../sdk/Wire.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})

const body = JSON.stringify(messages.request)
const post = (fetch: typeof globalThis.fetch, init: RequestInit = {}) =>
  fetch(`${provider.url}/v1/messages`, { method: "POST", body, ...init })

const outputs = async (recording: Recording) => (await recording.events()).map(({ properties }) => properties.output)

/** Resolves when a call was recorded or dropped, however long that takes. */
const settled = async ({ recorder }: Recording) => {
  for (;;) {
    const { dropped, recorded } = recorder.counters()
    if (recorded > 0 || Object.keys(dropped).length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const text = { ...messages.answer, content: [{ type: "text", text: "Grüße" }], stop_reason: null }
const beginning = messages.chunks.slice(0, 4)

/** Sends the beginning of a stream, and leaves its end to the test. */
const begin = (end: (response: ServerResponse) => void) => async (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const chunk of beginning) await new Promise((resolve) => response.write(chunk, resolve))
  end(response)
}

const readBeginning = async (response: Response) => {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let read = ""
  while (read.length < beginning.join("").length) read += decoder.decode((await reader.read()).value, { stream: true })
  expect(read).toBe(beginning.join(""))
  return reader
}

describe("a stream that does not come to its end", () => {
  it("is recorded as far as it came when the application aborts it", async () => {
    const recording = await startRecording()
    provider.answer = begin(() => {})
    const abort = new AbortController()
    const reader = await readBeginning(await post(recording.recorder.fetch, { signal: abort.signal }))
    // A flush waits for calls that are over.
    expect(await recording.recorder.flush()).toBe(true)
    expect(recording.recorder.counters()).toMatchObject({ underWay: 1, recorded: 0 })
    const reason = new Error("enough")
    abort.abort(reason)
    await expect(reader.read()).rejects.toBe(reason)
    expect(await outputs(recording)).toMatchObject([{ content: text.content, error: { type: "aborted" } }])
  })

  it("is recorded as far as it came when the application stops reading", async () => {
    const recording = await startRecording()
    let closed: Promise<unknown> = Promise.resolve()
    provider.answer = begin((response) => {
      closed = new Promise((resolve) => response.once("close", resolve))
    })
    const reader = await readBeginning(await post(recording.recorder.fetch))
    await reader.cancel()
    // The provider learns of it, as it would without the tap.
    await closed
    expect(await outputs(recording)).toMatchObject([{ content: text.content, error: { type: "cancelled" } }])
  })

  it("is recorded as far as it came when the connection breaks, and the application gets the error", async () => {
    const recording = await startRecording()
    const run = async (fetch: typeof globalThis.fetch) => {
      provider.answer = begin((response) => void response.destroy())
      const reader = await readBeginning(await post(fetch))
      const error = await reader.read().then(
        () => undefined,
        (cause: Error) => cause
      )
      return [error?.constructor, error?.message, (error?.cause as Error | undefined)?.message]
    }
    const plain = await run(fetch)
    expect(await run(recording.recorder.fetch)).toEqual(plain)
    expect(await outputs(recording)).toMatchObject([{ content: text.content, error: { type: "connection_error" } }])
  })

  /** Sends a whole value, of which the headers say that more follows. */
  const wholeValue = JSON.stringify(messages.answer)
  const beginValue = (end: (response: ServerResponse) => void) => async (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": wholeValue.length + 10 })
    await new Promise((resolve) => response.write(wholeValue, resolve))
    end(response)
  }

  it("is recorded with an error when the connection breaks behind a whole value, and the application gets the error", async () => {
    const recording = await startRecording()
    provider.answer = beginValue((response) => void response.destroy())
    await expect((await post(recording.recorder.fetch)).json()).rejects.toThrow()
    const error = expect.objectContaining({ type: "connection_error" })
    expect(await outputs(recording)).toEqual([{ ...messages.answer, error }])
  })

  it("is recorded as whole when the application stops reading behind a whole value", async () => {
    const recording = await startRecording()
    provider.answer = beginValue(() => {})
    const reader = (await post(recording.recorder.fetch)).body!.getReader()
    const { value } = await reader.read()
    expect(new TextDecoder().decode(value)).toBe(wholeValue)
    await reader.cancel()
    expect(await outputs(recording)).toEqual([messages.answer])
  })

  it("is recorded as whole when the connection breaks behind its last event", async () => {
    const recording = await startRecording()
    provider.answer = async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      await new Promise((resolve) => response.write(messages.chunks.join(""), resolve))
      response.destroy()
    }
    await expect((await post(recording.recorder.fetch)).text()).rejects.toThrow()
    const [output] = await outputs(recording)
    expect(output).toMatchObject({ stop_reason: messages.answer.stop_reason })
    expect(output).not.toHaveProperty("error")
  })

  it("is recorded as cut when its last event is missing", async () => {
    const recording = await startRecording()
    provider.answer = begin((response) => void response.end())
    await (await post(recording.recorder.fetch)).text()
    expect(await outputs(recording)).toMatchObject([{ content: text.content, error: { type: "cut" } }])
  })

  it("is recorded when the application does not read on", async () => {
    const recording = await startRecording({ unreadMs: 1 })
    provider.answer = begin(() => {})
    const response = await post(recording.recorder.fetch)
    await settled(recording)
    expect(await outputs(recording)).toMatchObject([{ error: { type: "unread" } }])
    expect(response.bodyUsed).toBe(false)
    expect(recording.recorder.counters().underWay).toBe(0)
  })

  it("is not taken for unread while the application waits for the provider", async () => {
    const recording = await startRecording({ unreadMs: 1 })
    provider.answer = begin((response) => {
      setTimeout(() => response.end(messages.chunks.slice(beginning.length).join("")), 200)
    })
    await (await post(recording.recorder.fetch)).text()
    expect(await outputs(recording)).toEqual([messages.answer])
  })

  it("is recorded when the application lets go of the response", async () => {
    setFlagsFromString("--expose-gc")
    const collect = runInNewContext("gc") as () => void
    const recording = await startRecording()
    provider.answer = begin(() => {})
    await post(recording.recorder.fetch)
    while (recording.recorder.counters().recorded === 0) {
      collect()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(await outputs(recording)).toMatchObject([{ error: { type: "unread" } }])
  })
})

describe("beside a library that replaces the global classes", () => {
  const native = { Request, Response }
  const replaced = () => {
    getRequestListener(() => new Response(""))
    expect(globalThis.Response).not.toBe(native.Response)
    expect(globalThis.Request).not.toBe(native.Request)
  }
  const restore = () => {
    Object.defineProperties(globalThis, {
      Request: { value: native.Request, configurable: true, writable: true },
      Response: { value: native.Response, configurable: true, writable: true }
    })
  }

  it("calls are recorded, whichever class their request and response have", async () => {
    const recording = await startRecording()
    const { fetch } = recording.recorder
    provider.answer = json(messages.answer)
    const target = `${provider.url}/v1/messages`
    const before = new Request(target, { method: "POST", body })
    replaced()
    try {
      for (const input of [before, new Request(target, { method: "POST", body })]) {
        const response = await fetch(input)
        expect(response.constructor).toBe(native.Response)
        expect(await response.clone().json()).toEqual(messages.answer)
        expect(await response.json()).toEqual(messages.answer)
      }
    } finally {
      restore()
    }
    expect(await outputs(recording)).toEqual([messages.answer, messages.answer])
  })

  it.each([
    ["JSON", 200, "application/json", JSON.stringify(messages.answer)],
    ["a stream", 200, "text/event-stream", messages.chunks.join("")],
    ["an error", 500, "application/json", JSON.stringify(messages.answer)]
  ])("an answer of the library's class is recorded, and stays one: %s", async (_name, status, type, answer) => {
    const below = async (...args: Parameters<typeof fetch>) => {
      const response = await fetch(...args)
      return new Response(response.body, { status: response.status, headers: { "content-type": type, "x-one": "1" } })
    }
    const recording = await startRecording({ fetch: below })
    provider.answer = (response) => void response.writeHead(status, { "content-type": type }).end(answer)
    replaced()
    try {
      const response = await post(recording.recorder.fetch)
      expect(response.constructor).toBe(globalThis.Response)
      expect([response.status, response.ok, response.headers.get("x-one")]).toEqual([status, status === 200, "1"])
      const copies = [response.clone(), response.clone().clone(), response]
      expect(await Promise.all(copies.map((copy) => copy.text()))).toEqual([answer, answer, answer])
      expect(response.bodyUsed).toBe(true)
    } finally {
      restore()
    }
    expect(await outputs(recording)).toEqual([messages.answer])
    expect(recording.drops).toEqual([])
  })
})

describe("install", () => {
  it("records the global fetch, and takes itself off again", async () => {
    const recording = await startRecording()
    const before = globalThis.fetch
    provider.answer = json(messages.answer)
    const uninstall = recording.recorder.install()
    await (await post(globalThis.fetch)).text()
    // Recorded once, though two taps see it.
    await (await post(recording.recorder.fetch)).text()
    uninstall()
    expect(globalThis.fetch).toBe(before)
    await (await post(globalThis.fetch)).text()
    expect(await outputs(recording)).toHaveLength(2)
  })

  it("is not needed where an application makes the tap its global fetch", async () => {
    const recording = await startRecording()
    const before = globalThis.fetch
    provider.answer = json(messages.answer)
    globalThis.fetch = recording.recorder.fetch
    try {
      await (await post(globalThis.fetch)).text()
    } finally {
      globalThis.fetch = before
    }
    expect(await outputs(recording)).toHaveLength(1)
  })

  it("stays off under a wrapper that came later", async () => {
    const recording = await startRecording()
    const before = globalThis.fetch
    provider.answer = json(messages.answer)
    const uninstall = recording.recorder.install()
    const installed = globalThis.fetch
    const wrapper: typeof fetch = (...args) => installed(...args)
    globalThis.fetch = wrapper
    try {
      await (await post(globalThis.fetch)).text()
      await (await post(recording.recorder.fetch)).text()
      uninstall()
      expect(globalThis.fetch).toBe(wrapper)
      await (await post(globalThis.fetch)).text()
    } finally {
      globalThis.fetch = before
    }
    expect(await outputs(recording)).toHaveLength(2)
  })

  it("has the properties of the fetch that it replaces", async () => {
    const recording = await startRecording()
    const before = globalThis.fetch
    const mark = Symbol("mark")
    const marked = Object.assign(((...args) => before(...args)) as typeof fetch, { preconnect: () => "yes", [mark]: 1 })
    globalThis.fetch = marked
    try {
      const uninstall = recording.recorder.install()
      const installed = globalThis.fetch as typeof marked
      expect(installed).not.toBe(marked)
      expect([installed.preconnect(), installed[mark], installed.name, installed.length]).toEqual([
        "yes",
        1,
        marked.name,
        marked.length
      ])
      uninstall()
      expect(globalThis.fetch).toBe(marked)
    } finally {
      globalThis.fetch = before
    }
  })

  it("leaves a call to the tap that is above it, whatever waits between them", async () => {
    const lower = await startRecording()
    const before = globalThis.fetch
    provider.answer = json(messages.answer)
    const uninstall = lower.recorder.install()
    const installed = globalThis.fetch
    let later: Promise<Response> | undefined
    globalThis.fetch = async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, 1))
      const answer = await installed(...args)
      // Something of its own, which is no part of the call.
      later ??= new Promise((resolve) => setTimeout(() => resolve(post(installed)), 50))
      return answer
    }
    const upper = await startRecording()
    try {
      await (await post(upper.recorder.fetch)).text()
      await (await later!).text()
    } finally {
      uninstall()
      globalThis.fetch = before
    }
    expect([await outputs(upper), await outputs(lower)]).toEqual([[messages.answer], [messages.answer]])
  })

  it("leaves a call to the tap that is above it", async () => {
    const lower = await startRecording()
    const before = globalThis.fetch
    provider.answer = json(messages.answer)
    const uninstall = lower.recorder.install()
    const installed = globalThis.fetch
    globalThis.fetch = (...args) => installed(...args)
    const upper = await startRecording()
    try {
      await (await post(upper.recorder.fetch)).text()
    } finally {
      uninstall()
      globalThis.fetch = before
    }
    expect([await outputs(upper), await outputs(lower)]).toEqual([[messages.answer], []])
  })
})
