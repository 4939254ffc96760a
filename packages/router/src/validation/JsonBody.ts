/** Decodes the bytes of a body with a schema, and keeps the text that was decoded. */
import { type ErrorDetail, ValidationFailure } from "@tachograph/api"
import { JsonValue, Scan } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { isUtf8 } from "node:buffer"
import * as ErrorInput from "./ErrorInput.ts"
import * as ValidationDetail from "./ValidationDetail.ts"

/** pydantic's error for a body that is not JSON. `at` is the position of the syntax error, in UTF-16 units. */
export const invalidJson = (at: number, error: string): ErrorDetail => ({
  type: "json_invalid",
  loc: ["body", String(at)],
  msg: "JSON decode error",
  input: {},
  ctx: { error }
})

const fail = (detail: ErrorDetail) => Effect.fail(new ValidationFailure({ detail: [detail] }))

/** Whether a request declares its body as JSON. A body without a `Content-Type` counts as JSON. */
export const isJson = (contentType: string | undefined): boolean => {
  if (contentType === undefined) return true
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase()
  return type === "application/json" || /^application\/[^/]*\+json$/.test(type)
}

const tooDeepError = `Objects and arrays are nested more than ${Scan.maxLevels} levels deep`

export const tooDeep: ErrorDetail = invalidJson(0, tooDeepError)

const parseBounded = (bytes: Buffer): Effect.Effect<JsonValue.Parsed, ValidationFailure> =>
  Scan.isDeeperThan(bytes, Scan.maxBodyDepth) ? fail(tooDeep) : Effect.sync(() => JsonValue.parse(bytes))

/** The value of a parsed text. */
const valueOf = (parsed: JsonValue.Parsed, bytes: Buffer): Effect.Effect<unknown, ValidationFailure> => {
  if ("value" in parsed) return Effect.succeed(parsed.value)
  if (parsed.error === "encoding") return fail(notUtf8)
  return fail(invalidJson(bytes.toString("utf8", 0, parsed.at).length, "SyntaxError"))
}

const notUtf8 = invalidJson(0, "The body is not valid UTF-8")

const byteOrderMark = Buffer.from("\ufeff")

/** Drops a byte order mark. */
export const withoutMark = (bytes: Buffer): Buffer =>
  bytes[0] === byteOrderMark[0] && bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export interface Body {
  readonly bytes: Uint8Array
  /** Whether the request declares it as JSON. Any other body is a plain string. */
  readonly isJson: boolean
}

export interface Decoded<A> {
  readonly value: A
  /** The value as it was sent, with all its keys that were parsed. */
  readonly sent: unknown
  /** The complete, valid JSON text of the value. */
  readonly bytes: Buffer
}

/** What becomes of unknown keys. */
export const excess = (isStrict: boolean): ValidationDetail.Excess => ({
  onExcessProperty: isStrict ? "error" : "ignore"
})

/** Decodes a body with a schema. Fails with all errors of the body. */
export const decoder = <S extends Schema.ConstraintDecoder<unknown>, E = never>(
  schema: S,
  parse: (bytes: Buffer) => Effect.Effect<JsonValue.Parsed, ValidationFailure | E> = parseBounded,
  unknownKeys?: ValidationDetail.Excess
) => {
  const decodeValue = ValidationDetail.decoder(schema, unknownKeys)
  return Effect.fnUntraced(function* (
    body: Body
  ): Effect.fn.Return<Decoded<S["Type"]>, ValidationFailure | E, S["DecodingServices"]> {
    const bytes = withoutMark(bufferOf(body.bytes))
    if (bytes.length === 0) return yield* fail(ValidationDetail.missingBody)
    const parsed = body.isJson ? yield* parse(bytes) : stringOf(bytes)
    const sent = yield* valueOf(parsed, bytes)
    // `null` is reported as a missing body.
    if (sent === null) return yield* fail(ValidationDetail.missingBody)
    const echo: ErrorInput.Echo = (paths) =>
      body.isJson ? ErrorInput.inJson(bytes)(paths) : paths.map(() => ErrorInput.ofString(sent))
    return yield* decodeValue(sent).pipe(
      Effect.map((value) => ({ value, sent, bytes })),
      Effect.mapError(({ issue }) => new ValidationFailure({ detail: ValidationDetail.details(issue, "body", echo) }))
    )
  })
}

const stringOf = (bytes: Buffer): JsonValue.Parsed =>
  isUtf8(bytes) ? { value: bytes.toString() } : { error: "encoding" }
