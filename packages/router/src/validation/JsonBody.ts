/** Decodes the bytes of a body with a schema, and keeps the text that was decoded. */
import { type ErrorDetail, ValidationFailure } from "@tachograph/api"
import { Scan } from "@tachograph/core"
import { Effect, type Schema } from "effect"
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

// Fatal: bytes that are not UTF-8 are rejected, not replaced. A byte order mark is dropped.
const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Whether a request declares its body as JSON. A body without a `Content-Type` counts as JSON. */
export const isJson = (contentType: string | undefined): boolean => {
  if (contentType === undefined) return true
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase()
  return type === "application/json" || /^application\/[^/]*\+json$/.test(type)
}

/** Some of V8's messages contain the position. The others mean that the text is truncated, or wrong at its start. */
const positionOf = (error: unknown, text: string): number => {
  const match = /at position (\d+)/.exec(String(error))
  if (match !== null) return Number(match[1])
  return text.trim() === "" || /end of/i.test(String(error)) ? text.length : 0
}

/** Levels of objects and arrays within the value of a field, beside texts that are stored as they are and never walked. */
const maxLevels = 10_000

/** The depth of the deepest of them: the body and the value of the field are two more. */
const maxDepth = maxLevels + 2

const tooDeep = invalidJson(0, `Objects and arrays are nested more than ${maxLevels} levels deep`)

const parse = (text: string, bytes: Buffer, limit: number): Effect.Effect<unknown, ValidationFailure> => {
  if (limit !== Number.POSITIVE_INFINITY && Scan.isDeeperThan(bytes, limit)) return fail(tooDeep)
  return Effect.try({
    try: () => JSON.parse(text) as unknown,
    catch: (error) => new ValidationFailure({ detail: [invalidJson(positionOf(error, text), (error as Error).name)] })
  })
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export interface Body {
  readonly bytes: Uint8Array
  /** Whether the request declares it as JSON. Any other body is a plain string. */
  readonly isJson: boolean
}

export interface Decoded<A> {
  readonly value: A
  /** The complete, valid JSON text of the value. */
  readonly text: string
}

/** Decodes a body with a schema. Fails with all errors of the body. */
export const decoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, depth = maxDepth) => {
  const decodeValue = ValidationDetail.decoder(schema)
  return Effect.fnUntraced(function* ({
    bytes,
    isJson
  }: Body): Effect.fn.Return<Decoded<S["Type"]>, ValidationFailure, S["DecodingServices"]> {
    const text = yield* Effect.try({
      try: () => utf8.decode(bytes),
      catch: () => new ValidationFailure({ detail: [invalidJson(0, "The body is not valid UTF-8")] })
    })
    if (text === "") return yield* fail(ValidationDetail.missingBody)
    const body = isJson ? yield* parse(text, bufferOf(bytes), depth) : text
    // `null` is reported as a missing body.
    if (body === null) return yield* fail(ValidationDetail.missingBody)
    const echo: ErrorInput.Echo = (paths) =>
      isJson ? ErrorInput.inJson(Buffer.from(text))(paths) : paths.map(() => ErrorInput.ofString(text))
    return yield* decodeValue(body).pipe(
      Effect.map((value) => ({ value, text })),
      Effect.mapError(({ issue }) => new ValidationFailure({ detail: ValidationDetail.details(issue, "body", echo) }))
    )
  })
}
