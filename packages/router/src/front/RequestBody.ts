/** From the bytes of a request to a value of a schema, and the text that it was read from. */
import {
  type ErrorDetail,
  PayloadTooLargeError,
  UnsupportedContentEncodingError,
  ValidationFailure
} from "@tachograph/api"
import { Errors } from "@tachograph/core"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, Exit, type Schema, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib"
import * as ErrorInput from "../validation/ErrorInput.ts"
import * as ParsedBody from "./ParsedBody.ts"
import * as NodeBody from "./NodeBody.ts"
import * as RequestState from "./RequestState.ts"
import * as ValidationDetail from "../validation/ValidationDetail.ts"

/** Bytes of a body, as sent and decompressed, unless the server is told otherwise. */
export const defaultMaxBody = 32 * 1024 * 1024

const decompressors = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress
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

const encodingsOf = (request: HttpServerRequest.HttpServerRequest): ReadonlyArray<string> =>
  (request.headers["content-encoding"] ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity")

/** The bytes that a request says it has; 0 where it does not say. */
export const announcedIn = ({ "content-length": length = "" }: Readonly<Record<string, string | undefined>>): number =>
  /^\d+$/.test(length) ? Number(length) : 0

/** Fails where there is no room for so many bytes more. */
const hold = (source: object, bytes: number): Effect.Effect<void, Errors.Overloaded> =>
  RequestState.of(source)?.reserve(bytes) === false ? Effect.fail(new Errors.Overloaded()) : Effect.void

/** Why a body could not be read. */
export type Unread = PayloadTooLargeError | UnsupportedContentEncodingError | ValidationFailure | Errors.Overloaded

const readOnce = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, maxBytes: number) {
  // What says that it is too large need not be read to be believed.
  const announced = announcedIn(request.headers)
  if (announced > maxBytes) return yield* new PayloadTooLargeError()
  const { source } = request
  const left = ParsedBody.find(request)
  if (left !== undefined) {
    if (left.bytes.length > maxBytes) return yield* new PayloadTooLargeError()
    yield* hold(source, left.bytes.length)
    if (!left.exact) yield* ParsedBody.warn
    return left.bytes
  }
  const encodings = encodingsOf(request)
  if (encodings.length > 0) return yield* readDecompressed(request, encodings, maxBytes)
  if (NodeBody.isOurs(source)) return yield* NodeBody.collect(source, maxBytes)
  // What others receive of it, nobody here can see.
  yield* hold(source, announced)
  const buffer = yield* request.arrayBuffer.pipe(
    Effect.mapError(({ reason }) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
        ? new PayloadTooLargeError()
        : new ValidationFailure({ detail: [invalidJson(0, "The body could not be read to its end")] })
    )
  )
  yield* hold(source, Math.max(0, buffer.byteLength - announced))
  return new Uint8Array(buffer)
})

type Read = Exit.Exit<Uint8Array, Unread>

/** What came of reading, by what carried the request: a body can be read once, and is asked for again to tell its errors. */
const reads = new WeakMap<object, Read>()

/** For whoever has read it from what carried it, and leaves the request to the routes. */
export const leave = (source: object, bytes: Uint8Array): void => void reads.set(source, Exit.succeed(bytes))

/** As it was before it was compressed. */
export const readBytes = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Uint8Array, Unread> =>
  Effect.flatMap(
    maxBytes,
    (maxBytes) =>
      reads.get(request.source) ??
      Effect.onExit(readOnce(request, maxBytes), (exit) => Effect.sync(() => void reads.set(request.source, exit)))
  )

/** Decompresses as the bytes come, so that neither form of a body that is too large is ever held whole. */
const readDecompressed = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  encodings: ReadonlyArray<string>,
  maxBytes: number
) {
  if (encodings.length > maxEncodings || !encodings.every((name) => Object.hasOwn(decompressors, name))) {
    return yield* new UnsupportedContentEncodingError()
  }
  const broken = () =>
    new ValidationFailure({ detail: [invalidJson(0, `The body is not valid ${encodings.join(", ")}`)] })
  const { source } = request
  const sent = NodeBody.isTouched(source) ? Stream.make(yield* NodeBody.collect(source, maxBytes)) : request.stream
  let bytes: Stream.Stream<Uint8Array, ValidationFailure | Errors.Overloaded> = Stream.mapError(sent, broken)
  for (const name of encodings.toReversed() as ReadonlyArray<keyof typeof decompressors>) {
    bytes = NodeStream.pipeThroughDuplex(bytes, { evaluate: decompressors[name], onError: broken })
  }
  const chunks: Array<Uint8Array> = []
  let size = 0
  yield* Stream.runForEach(bytes, (chunk): Effect.Effect<void, Unread> => {
    size += chunk.length
    if (size > maxBytes) return Effect.fail(new PayloadTooLargeError())
    chunks.push(chunk)
    return hold(source, chunk.length)
  })
  return Buffer.concat(chunks, size)
})

// Fatal: bytes that are not UTF-8 are refused, not replaced. A byte order mark is dropped.
const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Whether a request says that its body is JSON. */
export const isJson = (contentType: string | undefined): boolean => {
  if (contentType === undefined) return true
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase()
  return type === "application/json" || /^application\/[^/]*\+json$/.test(type)
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

/** Decodes a JSON text as a schema, or fails with all that is wrong with it. `json` false takes it for a plain string. */
export const decodeText = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decodeValue = ValidationDetail.decoder(schema)
  return Effect.fnUntraced(function* (
    text: string,
    json = true
  ): Effect.fn.Return<Decoded<S["Type"]>, ValidationFailure, S["DecodingServices"]> {
    const body = json
      ? yield* Effect.try({
          try: () => JSON.parse(text) as unknown,
          catch: (error) =>
            new ValidationFailure({ detail: [invalidJson(positionOf(error, text), (error as Error).name)] })
        })
      : text
    if (body === null) return yield* refuse(ValidationDetail.missingBody)
    const echo = json ? ErrorInput.inJson(text) : () => ErrorInput.ofString(text)
    return yield* decodeValue(body).pipe(
      Effect.map((value) => ({ value, text })),
      Effect.mapError(({ issue }) => new ValidationFailure({ detail: ValidationDetail.details(issue, "body", echo) }))
    )
  })
}

export interface Body {
  readonly bytes: Buffer
  /** Whether the request says that it is JSON. */
  readonly json: boolean
}

export const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The largest body, as sent and decompressed. */
export const maxBytes = Effect.map(HttpServerRequest.MaxBodySize, (size) => Number(size ?? defaultMaxBody))

export const read = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  return {
    bytes: asBuffer(yield* readBytes(request)),
    json: isJson(request.headers["content-type"])
  } satisfies Body
})

/** Decodes a body as a schema, or fails with all that is wrong with it. */
export const decodeBody = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = decodeText(schema)
  return Effect.fnUntraced(function* ({ bytes, json }: Body) {
    const text = yield* Effect.try({
      try: () => utf8.decode(bytes),
      catch: () => new ValidationFailure({ detail: [invalidJson(0, "The body is not valid UTF-8")] })
    })
    if (text === "") return yield* refuse(ValidationDetail.missingBody)
    return yield* decode(text, json)
  })
}

/** Reads the body as a schema, or fails with all that is wrong with it. */
export const decode = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decodeRead = decodeBody(schema)
  return (request: HttpServerRequest.HttpServerRequest) => Effect.flatMap(read(request), decodeRead)
}
