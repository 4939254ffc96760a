import { beforeAll, describe, expect, it, vi } from "vitest"
import { createRecorder as original } from "../../src/index.ts"
import { json, type Provider, startProvider } from "../Provider.ts"
import { type Recording, startRecording } from "../Recording.ts"
import { messages } from "../sdk/Wire.ts"

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
  provider.answer = json(messages.answer)
})

const url = () => `${provider.url}/v1/messages`
const bodyOf = (model: string) => JSON.stringify({ ...messages.request, model })
const call = async (fetch: typeof globalThis.fetch, model: string) =>
  (await fetch(url(), { method: "POST", body: bodyOf(model) })).json()

/** The body of a request, for which another call is made when it is asked for. */
const bodyThatCalls = (fetch: typeof globalThis.fetch) => {
  let hasCalled = false
  return new ReadableStream(
    {
      async pull(controller) {
        if (hasCalled) return controller.close()
        hasCalled = true
        await new Promise((resolve) => setTimeout(resolve, 1))
        expect(await call(fetch, "inner")).toEqual(messages.answer)
        controller.enqueue(new TextEncoder().encode(bodyOf("outer")))
      }
    },
    { highWaterMark: 0 }
  )
}

const models = async (recording: Recording) =>
  (await recording.events()).map(({ properties }) => properties.inputs["model"]).sort()

type Fetch = typeof globalThis.fetch

/** The `fetch` of the outer call and that of the inner one. */
const pairs: ReadonlyArray<[string, (recording: Recording) => readonly [Fetch, Fetch]]> = [
  ["the same tap", ({ recorder }) => [recorder.fetch, recorder.fetch]],
  ["the tap of a bound recorder", ({ recorder }) => [recorder.fetch, recorder.with({}, (bound) => bound.fetch)]],
  ["the installed tap", ({ recorder }) => [recorder.fetch, (...args) => globalThis.fetch(...args)]],
  ["the tap below it", ({ recorder }) => [(...args) => globalThis.fetch(...args), recorder.fetch]]
]

describe("a call within the body of another request", () => {
  it.each(pairs)("is recorded by %s, where that body is a stream", async (_name, fetches) => {
    const recording = await startRecording()
    const uninstall = recording.recorder.install()
    try {
      const [outer, inner] = fetches(recording)
      const init = { method: "POST", body: bodyThatCalls(inner), duplex: "half" } as RequestInit
      expect(await (await outer(url(), init)).json()).toEqual(messages.answer)
    } finally {
      uninstall()
    }
    expect(await models(recording)).toEqual(["inner"])
    expect(recording.recorder.counters().dropped).toEqual({ unreadable: 1 })
  })

  it.each(pairs)("is recorded by %s, where that is a Request", async (_name, fetches) => {
    const recording = await startRecording()
    const uninstall = recording.recorder.install()
    try {
      const [outer, inner] = fetches(recording)
      const init = { method: "POST", body: bodyThatCalls(inner), duplex: "half" } as RequestInit
      expect(await (await outer(new Request(url(), init))).json()).toEqual(messages.answer)
    } finally {
      uninstall()
    }
    expect(await models(recording)).toEqual(["inner", "outer"])
    expect(recording.drops).toEqual([])
  })

  it("is recorded where that goes to something else", async () => {
    const recording = await startRecording()
    const { fetch } = recording.recorder
    const init = { method: "POST", body: bodyThatCalls(fetch), duplex: "half" } as RequestInit
    await (await fetch(`${provider.url}/upload`, init)).text()
    expect(await models(recording)).toEqual(["inner"])
  })
})

describe("taps of two copies over the global fetch", () => {
  it.each([
    [0, 1],
    [1, 0]
  ])("leave it as it was, whichever is taken off first (%i, %i)", async (...order) => {
    vi.resetModules()
    const { createRecorder } = await import("../../src/index.ts")
    expect(createRecorder).not.toBe(original)
    const lower = await startRecording()
    const upper = await startRecording()
    const copy = createRecorder({ tachograph: upper.tachograph })
    const before = globalThis.fetch
    const uninstalls = [lower.recorder.install(), copy.install()]
    try {
      uninstalls[order[0]!]!()
      await call(globalThis.fetch, "one left")
      uninstalls[order[1]!]!()
      expect(globalThis.fetch).toBe(before)
      await call(globalThis.fetch, "none left")
      // A tap that is put over one that was taken off is not off.
      const again = lower.recorder.install()
      await call(globalThis.fetch, "again")
      again()
      again()
      expect(globalThis.fetch).toBe(before)
    } finally {
      globalThis.fetch = before
    }
    await copy.flush()
    const recorded = [...(await models(lower)), ...(await models(upper))]
    expect(recorded.sort()).toEqual(["again", "one left"])
  })
})

describe("a call that passes several taps", () => {
  it("is recorded and counted once, whatever kind its body has", async () => {
    const recording = await startRecording({ maxBytes: 10_000 })
    const before = globalThis.fetch
    const uninstalls = [recording.recorder.install(), recording.recorder.install()]
    const wrapped = globalThis.fetch
    globalThis.fetch = async (...args) => {
      await Promise.resolve()
      return wrapped(...args)
    }
    uninstalls.push(recording.recorder.install())
    try {
      await call(globalThis.fetch, "text")
      await (await fetch(new Request(url(), { method: "POST", body: bodyOf("request") }))).text()
      const stream = new Blob([bodyOf("stream")]).stream()
      await (await fetch(url(), { method: "POST", body: stream, duplex: "half" } as RequestInit)).text()
      await call(globalThis.fetch, "m".repeat(20_000))
    } finally {
      for (const uninstall of uninstalls) uninstall()
      globalThis.fetch = before
    }
    expect(await models(recording)).toEqual(["request", "text"])
    expect(recording.recorder.counters().dropped).toEqual({ unreadable: 1, memory: 1 })
  })

  it("is recorded once where the taps are of two copies of the client", async () => {
    const lower = await startRecording()
    const upper = await startRecording()
    const uninstall = lower.recorder.install()
    vi.resetModules()
    const { createRecorder } = await import("../../src/index.ts")
    expect(createRecorder).not.toBe(original)
    const copy = createRecorder({ tachograph: upper.tachograph })
    const uninstallCopy = copy.install()
    try {
      await call(globalThis.fetch, "m")
    } finally {
      uninstallCopy()
      uninstall()
    }
    await copy.flush()
    expect([await models(upper), await models(lower)]).toEqual([["m"], []])
  })
})
