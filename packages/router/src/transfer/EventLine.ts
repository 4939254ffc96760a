/** A line of an event: what it got when it was recorded, and the body that it was sent with. */
import { Export, type ValidationFailure } from "@tachograph/api"
import { JsonValue, Scan, type Steps } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as JsonBody from "../validation/JsonBody.ts"

/** Beside the fields of Create Event. */
const ownFields = ["event_id", "received_at", "checksum"] as const

/** Fields whose texts may be written as strings, under these names. */
const texts = [["properties", "inputs"], ["properties", "output"], ["metadata"]] as const

const asString = (path: ReadonlyArray<string>) => [...path.slice(0, -1), `${path.at(-1)}_text`]

const paths = [...ownFields.map((name) => [name]), ...texts.map(asString)]

/** What is needed of a line, or of its own fields alone. A text of which nothing is needed may be any JSON. */
const ownValues = JsonValue.fieldsAt(ownFields.map((name) => [name]))
const nothing = JsonValue.fieldsAt([])

export interface EventLine {
  readonly given: typeof Export.ImportedEvent.Type
  /** The body of Create Event. */
  readonly body: Buffer
}

const locate = (line: Buffer) => {
  try {
    return Scan.locateAll(line, paths)
  } catch {
    return undefined
  }
}

/** Where the member is whose value is at `span`. Undefined if its key is written with escapes. */
const memberAt = (line: Buffer, { end, start }: Scan.Span, key: string): Scan.Span | undefined => {
  const keyStart = line.lastIndexOf(key, start)
  if (keyStart === -1) return undefined
  const between = line.toString("latin1", keyStart + key.length, start)
  return /^\s*:\s*$/.test(between) ? { start: keyStart, end } : undefined
}

/** Does the steps of a long text, between which other work is done. */
type RunSteps = <A>(steps: Steps.Steps<A>) => Effect.Effect<A>

/** Reads lines. Fails with what is wrong with the fields that Create Event does not have. */
export const makeReader = (run: RunSteps) => {
  const decodeOwn = JsonBody.decoder(Export.ImportedEvent, (bytes) => run(JsonValue.parseInSteps(bytes, ownValues)))

  /** The JSON text in a string; undefined if it is not one. What is left out then is missing in the body. */
  const textOf = Effect.fnUntraced(function* (string: Buffer) {
    if (string[0] !== Scan.quote) return undefined
    const parsed = JsonValue.parse(string)
    if (!("value" in parsed)) return undefined
    const text = Buffer.from(parsed.value as string)
    return "value" in (yield* run(JsonValue.parseInSteps(text, nothing))) ? text : undefined
  })

  /** The line with the members that have texts as strings replaced by these texts. */
  const withTexts = Effect.fnUntraced(function* (line: Buffer, spans: ReadonlyArray<Scan.Span | undefined>) {
    const replaced: Array<Scan.Span & { readonly name: string; readonly text: Buffer }> = []
    for (const [index, span] of spans.entries()) {
      const name = texts[index]!.at(-1)!
      const member = span && memberAt(line, span, `"${name}_text"`)
      const text = span && (yield* textOf(line.subarray(span.start, span.end)))
      if (member !== undefined && text !== undefined) replaced.push({ ...member, name, text })
    }
    if (replaced.length === 0) return line
    const parts: Array<Uint8Array> = []
    let at = 0
    for (const { end, name, start, text } of replaced.sort((a, b) => a.start - b.start)) {
      parts.push(line.subarray(at, start), Buffer.from(`"${name}":`), text)
      at = end
    }
    return Buffer.concat([...parts, line.subarray(at)])
  })

  return Effect.fnUntraced(function* (line: Buffer): Effect.fn.Return<EventLine, ValidationFailure> {
    const spans = locate(line)
    // It is no JSON, which parsing all of it says.
    if (spans === undefined) return { given: (yield* decodeOwn({ bytes: line, isJson: true })).value, body: line }
    const members = ownFields.flatMap((name, index) => {
      const span = spans[index]
      return span === undefined ? [] : [`"${name}":${line.toString("utf8", span.start, span.end)}`]
    })
    const { value } = yield* decodeOwn({ bytes: Buffer.from(`{${members.join(",")}}`), isJson: true })
    return { given: value, body: yield* withTexts(line, spans.slice(ownFields.length)) }
  })
}
