import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import * as StreamWatch from "../../src/aisdk/StreamWatch.ts"

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "performance"] }))
afterEach(() => void vi.useRealTimers())

/** A stream of ever more numbers, and what is told of its reader. */
const start = (unreadMs = 60_000, parts = Infinity) => {
  let cancelled = false
  let next = 0
  const stream = new ReadableStream<unknown>({
    pull: (controller) => (next < parts ? controller.enqueue(next++) : controller.close()),
    cancel: () => void (cancelled = true)
  })
  const seen: Array<unknown> = []
  const left: Array<string> = []
  const see = (part: unknown) => void seen.push(part)
  const unwatch = StreamWatch.watch(stream, { unreadMs, see, left: (interruption) => void left.push(interruption) })
  return { stream, seen, left, unwatch, isCancelled: () => cancelled }
}

/** As the SDK reads it. */
const piped = (stream: ReadableStream<unknown>) =>
  stream.pipeThrough(new TransformStream<unknown, unknown>()).getReader()

it("tells in time that a reader has cancelled, and at once the stream below it", async () => {
  const { isCancelled, left, seen, stream } = start()
  const reader = piped(stream)
  expect(await reader.read()).toEqual({ done: false, value: 0 })
  await reader.cancel()
  expect([left, isCancelled(), seen[0]]).toEqual([[], true, 0])
  vi.advanceTimersByTime(60_000)
  expect(left).toEqual(["cancelled"])
})

it("tells that nobody holds what is left of a stream", async () => {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  const { left, seen, stream } = start()
  await piped(stream).read()
  for (let turn = 0; turn < 1000 && left.length === 0; turn++) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(left).toEqual(["unread"])
  expect(seen.length).toBeGreaterThan(0)
})

describe("a stream that is not read on", () => {
  it.each([
    ["in the middle", Infinity],
    ["at its end", 1]
  ])("is told once, %s, and can be read on", async (_where, parts) => {
    const { left, stream } = start(50, parts)
    const reader = piped(stream)
    await reader.read()
    vi.advanceTimersByTime(49)
    expect(left).toEqual([])
    vi.advanceTimersByTime(1)
    expect(left).toEqual(["unread"])
    expect((await reader.read()).done).toBe(parts === 1)
    await reader.cancel()
    vi.advanceTimersByTime(1_000)
    expect(left).toEqual(["unread"])
  })

  it("is not told after the end of the watch", async () => {
    const { left, stream, unwatch } = start(50)
    await piped(stream).read()
    unwatch()
    vi.advanceTimersByTime(1_000)
    expect(left).toEqual([])
  })

  it("is not told while the tools run that it calls", async () => {
    const stream = new ReadableStream<unknown>({
      start: (controller) => {
        controller.enqueue({ type: "tool-call" })
        controller.close()
      }
    })
    const left: Array<string> = []
    StreamWatch.watch(stream, { unreadMs: 50, see: () => {}, left: (interruption) => void left.push(interruption) })
    const reader = piped(stream)
    while (!(await reader.read()).done);
    vi.advanceTimersByTime(1_000)
    expect(left).toEqual([])
  })
})
