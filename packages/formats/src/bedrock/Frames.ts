/** Streams of Bedrock: each frame is an event, and what it says is what a stream of events would. */
import type { Accumulator } from "../Format.ts"
import { get, isObject, parsed, text } from "../json/Read.ts"
import { EventStream, type Frame } from "./EventStream.ts"

const [utf8, encoder] = [new TextDecoder(), new TextEncoder()]

/** What `InvokeModelWithResponseStream` sends of a model's own event, in base64. */
const bytesIn = (payload: unknown): string | undefined => {
  const encoded = text(get(payload, "bytes"))
  if (encoded === null) return undefined
  try {
    return utf8.decode(Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0)))
  } catch {
    return undefined
  }
}

/** An event as it stands in a stream of events. Line breaks in JSON stand between values only. */
const written = (event: string, json: string): Uint8Array =>
  encoder.encode(`event: ${event.replace(/[\r\n]/g, "")}\ndata: ${json.replace(/[\r\n]+/g, " ")}\n\n`)

/** An exception ends a stream. */
const exceptionIn = (type: string, json: string): Uint8Array => {
  const said = parsed(json)
  const message = text(get(said, "message")) ?? text(get(said, "Message")) ?? json
  return written("error", JSON.stringify({ type: "error", error: { type, message } }))
}

/** A model's own event says its type itself; those of Nova are objects with one key, as Converse names its events. */
const typeOf = (event: unknown): string =>
  text(get(event, "type")) ?? (isObject(event) ? (Object.keys(event)[0] ?? "") : "")

const eventIn = ({ headers, payload }: Frame): Uint8Array | undefined => {
  const json = utf8.decode(payload)
  const exception = headers.get(":exception-type") ?? headers.get(":error-code")
  if (exception !== undefined) return exceptionIn(exception, headers.get(":error-message") ?? json)
  const type = headers.get(":event-type")
  if (type === undefined) return undefined
  if (type !== "chunk") return written(type, json)
  const own = bytesIn(parsed(json))
  return own === undefined ? undefined : written(typeOf(parsed(own)), own)
}

/** Whether a content type is that of frames. */
export const isFramed = (contentType: string): boolean => /vnd\.amazon\.eventstream/i.test(contentType)

/** Accumulates frames as `inner` does their events. Damaged frames end it where they stand. */
export const overFrames = (inner: Accumulator): Accumulator => {
  const frames = new EventStream()
  return {
    push: (bytes) => {
      for (const frame of frames.push(bytes)) {
        const event = eventIn(frame)
        if (event !== undefined) inner.push(event)
      }
    },
    end: inner.end,
    size: () => inner.size() + frames.pendingBytes
  }
}
