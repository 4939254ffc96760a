import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { expect, it, vi } from "vitest"
import * as Said from "../../src/aisdk/Said.ts"

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
  const unwatch = Said.watch(stream, { unreadMs, see, left: (interruption) => void left.push(interruption) })
  return { stream, seen, left, unwatch, isCancelled: () => cancelled }
}

/** As the SDK reads it. */
const piped = (stream: ReadableStream<unknown>) =>
  stream.pipeThrough(new TransformStream<unknown, unknown>()).getReader()

it("tells that a reader cancels, and the stream below it", async () => {
  const { isCancelled, left, seen, stream } = start()
  const reader = piped(stream)
  expect(await reader.read()).toEqual({ done: false, value: 0 })
  await reader.cancel()
  expect([left, isCancelled(), seen[0]]).toEqual([["cancelled"], true, 0])
})

it("tells that nobody holds what is left of a stream", async () => {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  const { left, seen, stream } = start()
  await piped(stream).read()
  await vi.waitFor(() => {
    collect()
    expect(left).toEqual(["unread"])
  }, 10_000)
  expect(seen.length).toBeGreaterThan(0)
})

it("tells of parts that are not read on in time, also of the last ones, until the watch ends", async () => {
  const reader = async (parts: number) => {
    const watched = start(50, parts)
    const held = piped(watched.stream)
    await held.read()
    return { ...watched, held }
  }
  const [long, short, ended] = [await reader(Infinity), await reader(1), await reader(1)]
  ended.unwatch()
  await vi.waitFor(() => expect([long.left, short.left]).toEqual([["unread"], ["unread"]]), 5000)
  expect(ended.left).toEqual([])
  expect(await long.held.read()).toMatchObject({ value: 1 })
  expect(await short.held.read()).toMatchObject({ done: true })
})
