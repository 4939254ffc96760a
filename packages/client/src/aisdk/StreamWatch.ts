/** Watches whether the application reads a stream of version 7 on. */
import { isObject } from "../event/Event.ts"
import { Reading } from "../platform/Reading.ts"

type Left = "cancelled" | "unread"

/** Who wants to know what the reader of a stream does. */
export interface Watcher {
  readonly see: (part: unknown) => void
  /** Called at most once, where the application lets go of the stream before its end, or of its last parts. It never throws. */
  readonly left: (interruption: Left) => void
  /** How long a part may wait for the next one to be asked for. */
  readonly unreadMs: number
}

interface WatchedStream {
  readonly stream: ReadableStream<unknown>
  readonly unwatch: () => void
}

/** Tells of streams that nothing holds any more. */
const forgotten =
  typeof FinalizationRegistry === "undefined" ? undefined : new FinalizationRegistry<() => void>((forget) => forget())

const isToolCall = (part: unknown): boolean => isObject(part) && part["type"] === "tool-call"

/** A stream of the same parts, each of which is read when it is asked for. */
const watched = (stream: ReadableStream<unknown>, { left, see, unreadMs }: Watcher): WatchedStream => {
  const reader = stream.getReader()
  let isWatched = true
  /** Until its end, an error or a cancellation. After these the SDK may still go on: with tools, or with another attempt. */
  let isOpen = true
  let hasToolCalls = false
  let interruption: Left = "unread"
  const unwatch = () => {
    isWatched = false
    reading.stop()
  }
  const leave = () => {
    if (!isWatched) return
    unwatch()
    left(interruption)
  }
  const reading = new Reading(unreadMs, leave)
  const pull = async (controller: ReadableStreamDefaultController<unknown>) => {
    reading.waits()
    try {
      const { done, value } = await reader.read()
      reading.took()
      if (!done) {
        controller.enqueue(value)
        hasToolCalls ||= isToolCall(value)
        return see(value)
      }
      isOpen = false
      // The step ends when its tools have, however long they take.
      if (hasToolCalls) reading.waits()
      controller.close()
    } catch (error) {
      isOpen = false
      reading.took()
      throw error
    }
  }
  const cancel = (reason: unknown) => {
    isOpen = false
    interruption = "cancelled"
    reading.took()
    return reader.cancel(reason)
  }
  const same = new ReadableStream<unknown>({ pull, cancel }, { highWaterMark: 0 })
  forgotten?.register(same, () => {
    if (isOpen) leave()
  })
  return { stream: same, unwatch }
}

/**
 * Watches a stream as the SDK pipes it on, which must get this very object. It is not watched where the SDK reads it otherwise. Returns
 * what ends the watch.
 */
export const watch = (stream: ReadableStream<unknown>, watcher: Watcher): (() => void) => {
  const { pipeThrough } = stream
  let isWatched = true
  let unwatch = (): void => void (isWatched = false)
  const value = (...args: Parameters<typeof pipeThrough>) => {
    if (!isWatched) return pipeThrough.apply(stream, args)
    const same = watched(stream, watcher)
    unwatch = same.unwatch
    return pipeThrough.apply(same.stream, args)
  }
  Object.defineProperty(stream, "pipeThrough", { configurable: true, writable: true, value })
  return () => unwatch()
}
