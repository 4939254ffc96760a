/** The output of a call: what its response says, or what the stream stands for, as the JSON text of an object. */
import { Steps } from "@tachograph/core"
import { type Api, type Format, formats } from "@tachograph/formats"
import * as CallInputs from "./CallInputs.ts"
import type { Interruption } from "./Tap.ts"

/** Why an output is not whole. */
type Incompleteness = Interruption | "cut"

const sentences: Readonly<Record<Incompleteness, string>> = {
  aborted: "The application ended the call.",
  connection_error: "The connection to the provider failed.",
  timeout: "The provider was silent for too long.",
  cut: "The stream ended before its last event."
}

export interface ReceivedOutput {
  readonly api: Api
  /** 0 where no response came. */
  readonly status: number
  readonly contentType: string
  /** Decompressed. */
  readonly body: Buffer
  readonly interruption: Interruption | undefined
}

const errorOf = (why: Incompleteness, body?: string) => ({
  error: { type: why, message: sentences[why], ...(body === undefined ? {} : { body }) }
})

const bytesOf = (value: object): Buffer => Buffer.from(JSON.stringify(value))

/** A stream as the answer that it stands for. */
function* accumulate({ body, interruption }: ReceivedOutput, format: Format): Steps.Steps<Buffer> {
  const accumulator = format.accumulator()
  for (let at = 0; at < body.length; at += Steps.stepBytes) {
    accumulator.push(body.subarray(at, at + Steps.stepBytes))
    yield
  }
  const { ended, output, text } = accumulator.end()
  if (ended !== "cut" || Object.hasOwn(output, "error")) return Buffer.from(text ?? JSON.stringify(output))
  const { error } = errorOf(interruption ?? "cut")
  if (text === null) return bytesOf({ ...output, error })
  const isEmpty = Object.keys(output).length === 0
  return Buffer.from(`${text.trimEnd().slice(0, -1)}${isEmpty ? "" : ","}"error":${JSON.stringify(error)}}`)
}

/** The text as it is, where it is an object, and otherwise an error that has it. */
function* whole({ body, interruption, status }: ReceivedOutput): Steps.Steps<Buffer> {
  if ((yield* CallInputs.parse(body, false)) !== undefined) return body
  const text = body.length === 0 ? undefined : body.toString()
  if (interruption !== undefined) return bytesOf(errorOf(interruption, text))
  const message = `The provider answered ${status} with something else than a JSON object.`
  return bytesOf({ error: { type: `http_${status}`, message, body: text ?? "" } })
}

/** No line of an event stream begins with a brace, and no object with anything else. */
const isObject = (body: Buffer): boolean => /^\s*\{/.test(body.toString("latin1", 0, 64))

export function* of(received: ReceivedOutput): Steps.Steps<Buffer> {
  const { api, body, contentType, status } = received
  // Those of `aisdk` are no bytes, and it has no endpoint.
  const format = formats[api] as Format
  const isStream = /event-stream|ndjson|jsonl/i.test(contentType) || (body.length > 0 && !isObject(body))
  const isAnswer = status >= 200 && status < 300
  return yield* isAnswer && isStream ? accumulate(received, format) : whole(received)
}
