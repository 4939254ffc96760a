/** From the bytes of a request to a value of a schema, and the text that it was read from. */
import {
  type ErrorDetail,
  PayloadTooLargeError,
  UnsupportedContentEncodingError,
  ValidationFailure
} from "@tachograph/api"
import { Effect, type Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { promisify } from "node:util"
import { brotliDecompress, gunzip, inflate, zstdDecompress } from "node:zlib"
import * as EchoText from "./EchoText.ts"
import * as ValidationDetail from "./ValidationDetail.ts"

/** Bytes of a body, as sent and decompressed, unless the server is told otherwise. */
export const defaultMaxBody = 32 * 1024 * 1024

const decompressors = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress)
} as const

/** More encodings on top of each other than this are refused: nobody sends them in earnest. */
const maxEncodings = 2

const invalidJson = (at: number, error: string): ErrorDetail => ({
  type: "json_invalid",
  loc: ["body", String(at)],
  msg: "JSON decode error",
  input: {},
  ctx: { error }
})

const refuse = (...detail: ReadonlyArray<ErrorDetail>) => Effect.fail(new ValidationFailure({ detail }))

const readBytes = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, maxBytes: number) {
  const bytes = yield* request.arrayBuffer.pipe(
    Effect.mapError(({ reason }) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
        ? new PayloadTooLargeError()
        : new ValidationFailure({ detail: [invalidJson(0, "The body could not be read to its end")] })
    )
  )
  const encodings = (request.headers["content-encoding"] ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity")
  if (encodings.length > maxEncodings) return yield* new UnsupportedContentEncodingError()
  let decoded: Uint8Array = new Uint8Array(bytes)
  for (const encoding of encodings.toReversed()) decoded = yield* decompress(encoding, decoded, maxBytes)
  return decoded
})

const decompress = (encoding: string, bytes: Uint8Array, maxBytes: number) =>
  Effect.gen(function* () {
    if (!Object.hasOwn(decompressors, encoding)) return yield* new UnsupportedContentEncodingError()
    const run = decompressors[encoding as keyof typeof decompressors]
    return yield* Effect.tryPromise({
      try: (): Promise<Uint8Array> => run(bytes, { maxOutputLength: maxBytes }),
      catch: (cause) =>
        (cause as { readonly code?: unknown }).code === "ERR_BUFFER_TOO_LARGE"
          ? new PayloadTooLargeError()
          : new ValidationFailure({ detail: [invalidJson(0, `The body is not valid ${encoding}`)] })
    })
  })

// Fatal: bytes that are not UTF-8 are refused, not replaced. A byte order mark is dropped.
const utf8 = new TextDecoder("utf-8", { fatal: true })

const isJson = (contentType: string | undefined): boolean => {
  const type = contentType?.split(";", 1)[0]!.trim().toLowerCase()
  return !type || type === "application/json" || /^application\/[^/]+\+json$/.test(type)
}

/** V8 says where it stopped in some of its messages; where it does not, the text ended early or at its start. */
const positionOf = (error: unknown, text: string): number => {
  const match = /at position (\d+)/.exec(String(error))
  return match ? Number(match[1]) : text.trim() === "" || /end of/i.test(String(error)) ? text.length : 0
}

export interface Decoded<A> {
  readonly value: A
  /** The JSON text that the value was read from, valid and whole. */
  readonly text: string
}

/** Reads the body as a schema, or fails with all that is wrong with it. */
export const decode = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decodeValue = ValidationDetail.decoder(schema)
  return Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest
  ): Effect.fn.Return<
    Decoded<S["Type"]>,
    ValidationFailure | PayloadTooLargeError | UnsupportedContentEncodingError,
    S["DecodingServices"]
  > {
    const maxBytes = Number((yield* HttpServerRequest.MaxBodySize) ?? defaultMaxBody)
    const bytes = yield* readBytes(request, maxBytes)
    const text = yield* Effect.try({
      try: () => utf8.decode(bytes),
      catch: () => new ValidationFailure({ detail: [invalidJson(0, "The body is not valid UTF-8")] })
    })
    if (text === "") return yield* refuse(ValidationDetail.missingBody)
    const json = isJson(request.headers["content-type"])
    const body = json
      ? yield* Effect.try({
          try: () => JSON.parse(text) as unknown,
          catch: (error) =>
            new ValidationFailure({ detail: [invalidJson(positionOf(error, text), (error as Error).name)] })
        })
      : text
    if (body === null) return yield* refuse(ValidationDetail.missingBody)
    const echo = json ? EchoText.inJson(text) : () => EchoText.ofString(text)
    return yield* decodeValue(body).pipe(
      Effect.map((value) => ({ value, text })),
      Effect.mapError(({ issue }) => new ValidationFailure({ detail: ValidationDetail.details(issue, "body", echo) }))
    )
  })
}
