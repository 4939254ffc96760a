/** A line of a batch: the body of Create Event, with the idempotency key of the event as a member of it. */
import { Events } from "@tachograph/api"
import { Scan } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { Key } from "../events/EventDecoder.ts"
import * as JsonBody from "../validation/JsonBody.ts"

const decodeFields = JsonBody.decoder(Events.BatchFields)

/** What the key takes of a line at most, beside the event: 255 characters, some with escapes. */
export const maxKeyBytes = 2 * 1024

interface BatchLine {
  /** The line without the key: what would be sent beside the header `Idempotency-Key`. The same key stands for the same bytes. */
  readonly body: Buffer
  readonly key: Key | undefined
}

const isSpace = (code: number | undefined): boolean => code === 0x20 || code === 0x09

/** Without the member of this value, and the comma after it, or else before it. */
const withoutMember = (line: Buffer, { end, start }: Scan.Span): Buffer => {
  // The name has no quote in it, also where it is written with escapes.
  let from = line.lastIndexOf(Scan.quote, line.lastIndexOf(Scan.quote, start - 1) - 1)
  let to = Scan.skipSpace(line, end)
  if (line[to] === Scan.comma) to = Scan.skipSpace(line, to + 1)
  else {
    let before = from - 1
    while (isSpace(line[before])) before--
    if (line[before] === Scan.comma) from = before
  }
  return Buffer.concat([line.subarray(0, from), line.subarray(to)])
}

const keyIn = (line: Buffer): Scan.Span | undefined => {
  try {
    return Scan.locate(line, ["idempotency_key"])
  } catch {
    // It is no JSON, which decoding it says.
    return undefined
  }
}

export const of = (line: Buffer): BatchLine => {
  const span = keyIn(line)
  if (span === undefined) return { body: line, key: undefined }
  const fields = Buffer.from(`{"idempotency_key":${line.toString("utf8", span.start, span.end)}}`)
  const key = Effect.map(decodeFields({ bytes: fields, isJson: true }), ({ value }) => value.idempotency_key ?? null)
  return { body: withoutMember(line, span), key }
}

/** Whether there is nothing in it. */
export const isBlank = (line: Buffer): boolean => Scan.skipSpace(line, 0) === line.length
