/** What a model has said in a stream, as far as it came. The telemetry of version 7 tells it only of streams that end. */
import { isObject } from "../event/Event.ts"
import { Reading } from "../platform/Reading.ts"
import { sizeOf } from "./Size.ts"

type Fields = Readonly<Record<string, unknown>>

interface Said {
  readonly take: (part: unknown) => void
  /** In the shape of a step's result. */
  readonly result: () => Fields
}

/** Parts of a stream that are whole. */
const whole = new Set<unknown>(["tool-call", "tool-result", "source", "file"])

/** Asks `hold` before it keeps more bytes, and keeps nothing any more once there is no room. */
export const make = (hold: (bytes: number) => boolean): Said => {
  const content: Array<Fields> = []
  const open = new Map<string, { readonly type: string; text: string }>()
  let response: Fields | undefined
  let isOver = false
  const hasRoomFor = (value: unknown) => {
    if (!isOver && hold(sizeOf(value))) return true
    isOver = true
    content.length = 0
    open.clear()
    return false
  }

  return {
    take: (part) => {
      if (!isObject(part)) return
      const { delta, id, type } = part
      if (whole.has(type)) {
        if (hasRoomFor(part)) content.push(part)
      } else if (type === "response-metadata") response = { id, modelId: part["modelId"], timestamp: part["timestamp"] }
      else if ((type === "text-delta" || type === "reasoning-delta") && typeof delta === "string") {
        if (!hasRoomFor(delta)) return
        const key = `${type} ${String(id)}`
        const block = open.get(key) ?? { type: type.slice(0, -"-delta".length), text: "" }
        if (!open.has(key)) content.push(block)
        open.set(key, block)
        block.text += delta
      }
    },
    result: () => (content.length === 0 ? {} : { content, response })
  }
}

/** What the reader of a stream does. */
export interface Watcher {
  readonly see: (part: unknown) => void
  /** Called at most once, where the application lets go of the stream before its end, or of its last parts. */
  readonly left: (interruption: "cancelled" | "unread") => void
  /** How long a part may wait for the next one to be asked for. */
  readonly unreadMs: number
}

interface Watch {
  readonly stream: ReadableStream<unknown>
  readonly stop: () => void
}

/** Tells of streams that nothing holds any more. */
const forgotten =
  typeof FinalizationRegistry === "undefined" ? undefined : new FinalizationRegistry<() => void>((forget) => forget())

/** A stream of the same parts, each of which is read when it is asked for. */
const watched = (stream: ReadableStream<unknown>, { left, see, unreadMs }: Watcher): Watch => {
  const reader = stream.getReader()
  let isWhole = false
  const reading = new Reading(unreadMs, () => left("unread"))
  const stop = () => reading.stop()
  const leave = (interruption: "cancelled" | "unread") => {
    // What has passed whole may still be read on behind this stream.
    if (isWhole) return
    stop()
    left(interruption)
  }
  const pull = async (controller: ReadableStreamDefaultController<unknown>) => {
    reading.waits()
    const { done, value } = await reader.read()
    reading.took()
    if (done) {
      isWhole = true
      return controller.close()
    }
    controller.enqueue(value)
    see(value)
  }
  const cancel = (reason: unknown) => {
    leave("cancelled")
    return reader.cancel(reason)
  }
  const same = new ReadableStream<unknown>({ pull, cancel }, { highWaterMark: 0 })
  forgotten?.register(same, () => leave("unread"))
  return { stream: same, stop }
}

/**
 * Watches a stream as the SDK pipes it on, which must get this very object. It is not watched where the SDK reads it otherwise. Returns
 * what ends the watch.
 */
export const watch = (stream: ReadableStream<unknown>, watcher: Watcher): (() => void) => {
  const { pipeThrough } = stream
  let stop = () => {}
  const value = (...args: Parameters<typeof pipeThrough>) => {
    const watch = watched(stream, watcher)
    stop = watch.stop
    return pipeThrough.call(watch.stream, ...args)
  }
  Object.defineProperty(stream, "pipeThrough", { configurable: true, writable: true, value })
  return () => stop()
}
