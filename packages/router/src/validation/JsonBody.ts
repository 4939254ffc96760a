/** From the bytes of a body to a value of a schema, together with the text that the value was read from. */
import { type ErrorDetail, ValidationFailure } from "@tachograph/api"
import { Effect, type Schema } from "effect"
import * as ErrorInput from "./ErrorInput.ts"
import * as ValidationDetail from "./ValidationDetail.ts"

/** pydantic's error for a body that is not JSON. `at` is where it stops, in UTF-16 units. */
export const invalidJson = (at: number, error: string): ErrorDetail => ({
  type: "json_invalid",
  loc: ["body", String(at)],
  msg: "JSON decode error",
  input: {},
  ctx: { error }
})

const fail = (detail: ErrorDetail) => Effect.fail(new ValidationFailure({ detail: [detail] }))

// Fatal: bytes that are not UTF-8 are refused, not replaced. A byte order mark is dropped.
const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Whether a request declares its body as JSON; without a `Content-Type` it is taken for JSON. */
export const isJson = (contentType: string | undefined): boolean => {
  if (contentType === undefined) return true
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase()
  return type === "application/json" || /^application\/[^/]*\+json$/.test(type)
}

/** Some of V8's messages hold the position. The others mean that the text ends too early, or is wrong at its start. */
const positionOf = (error: unknown, text: string): number => {
  const match = /at position (\d+)/.exec(String(error))
  if (match !== null) return Number(match[1])
  return text.trim() === "" || /end of/i.test(String(error)) ? text.length : 0
}

const parse = (text: string): Effect.Effect<unknown, ValidationFailure> =>
  Effect.try({
    try: () => JSON.parse(text) as unknown,
    catch: (error) => new ValidationFailure({ detail: [invalidJson(positionOf(error, text), (error as Error).name)] })
  })

export interface Body {
  readonly bytes: Uint8Array
  /** Whether the request declares it as JSON. Any other body is taken for a plain string. */
  readonly isJson: boolean
}

export interface Decoded<A> {
  readonly value: A
  /** The JSON text that the value was read from, valid and whole. */
  readonly text: string
}

/** Decodes a body as a schema, or fails with everything that is wrong with it. */
export const decoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
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
    const body = isJson ? yield* parse(text) : text
    // `null` is reported as a missing body.
    if (body === null) return yield* fail(ValidationDetail.missingBody)
    const echo = isJson ? ErrorInput.inJson(text) : () => ErrorInput.ofString(text)
    return yield* decodeValue(body).pipe(
      Effect.map((value) => ({ value, text })),
      Effect.mapError(({ issue }) => new ValidationFailure({ detail: ValidationDetail.details(issue, "body", echo) }))
    )
  })
}
