/** Reads and decompresses the body of a request, within the limit on its length and the permit of the request. */
import { PayloadTooLargeError, UnsupportedContentEncodingError, ValidationFailure } from "@tachograph/api"
import type { Errors, Permit } from "@tachograph/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { IncomingMessage } from "node:http"
import { Readable, Transform, Writable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib"
import { invalidJson } from "../validation/JsonBody.ts"
import { BodyCollector, type BodyRefused } from "./BodyCollector.ts"
import * as NodeBody from "./NodeBody.ts"
import * as ParsedBody from "./ParsedBody.ts"
import { maxFrames, ZstdFrames } from "../calls/ZstdFrames.ts"

/** The default limit on the length of an event's body, as sent and decompressed, in bytes. */
export const defaultMaxBody = 32 * 1024 * 1024

/** The limit on the length of an event's body, as sent and decompressed, in bytes. */
export const MaxBodyBytes = Context.Reference<number>("tachograph/router/MaxBodyBytes", {
  defaultValue: () => defaultMaxBody
})

/** The default limit on the length of every other body, as sent and decompressed, in bytes. */
export const defaultMaxOtherBody = 1024 * 1024

/** The limit on the length of every body but an event's, as sent and decompressed, in bytes. */
export const MaxOtherBodyBytes = Context.Reference<number>("tachograph/router/MaxOtherBodyBytes", {
  defaultValue: () => defaultMaxOtherBody
})

/** The default limit on the length of a batch of events, as sent and decompressed, in bytes. */
export const defaultMaxBatch = 64 * 1024 * 1024

/** The limit on the length of a batch of events, as sent and decompressed, in bytes. */
export const MaxBatchBytes = Context.Reference<number>("tachograph/router/MaxBatchBytes", {
  defaultValue: () => defaultMaxBatch
})

/** The default limit on the lines of a batch of events. */
export const defaultMaxBatchLines = 10_000

/** The limit on the lines of a batch of events. */
export const MaxBatchLines = Context.Reference<number>("tachograph/router/MaxBatchLines", {
  defaultValue: () => defaultMaxBatchLines
})

/** Where a mount finds the body: a request of `node:http`, any other stream of bytes, or bytes that are there already. */
export type BodySource = IncomingMessage | AsyncIterable<Uint8Array> | Uint8Array

/** Why a body could not be read. */
type Unread = PayloadTooLargeError | UnsupportedContentEncodingError | ValidationFailure | Errors.Overloaded

type Headers = Readonly<Record<string, string | undefined>>

/**
 * A body is refused if anything follows its compressed form, in every encoding. Members of gzip (RFC 1952, section 2.2) and frames
 * of zstd (RFC 8878, section 3.1) may follow each other: then the body is all of them. A stream of deflate (RFC 1950) and of
 * brotli (RFC 7932) stands alone.
 */
const decompressors = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress
} as const

type Decompressor = ReturnType<(typeof decompressors)[Encoding]>

type Encoding = keyof typeof decompressors

/** No client applies more encodings on top of each other. */
const maxEncodings = 2

export const encodingsOf = (headers: Headers): ReadonlyArray<string> => {
  const header = headers["content-encoding"]
  if (header === undefined) return []
  const names = header.split(",").map((name) => name.trim().toLowerCase())
  return names.filter((name) => name !== "" && name !== "identity")
}

export const isSupported = (encodings: ReadonlyArray<string>): encodings is ReadonlyArray<Encoding> =>
  encodings.length <= maxEncodings && encodings.every((name) => Object.hasOwn(decompressors, name))

/** The length in `Content-Length`, in bytes; 0 if there is none. */
export const announcedBytes = ({ "content-length": length = "" }: Headers): number =>
  /^\d+$/.test(length) ? Number(length) : 0

const unreadable = (error: string) => new ValidationFailure({ detail: [invalidJson(0, error)] })

/** Passes an error of the collector out of a stream, whose own errors mean that the body is damaged. */
const failureOf = (error: unknown, otherwise: string): BodyRefused | ValidationFailure => {
  const tag = (error as { readonly _tag?: unknown } | null)?._tag
  return tag === "payload-too-large" || tag === "overloaded" ? (error as BodyRefused) : unreadable(otherwise)
}

const hasClientGone = (source: BodySource): boolean =>
  source instanceof IncomingMessage && source.destroyed && !source.complete

const addAll = async (chunks: AsyncIterable<Uint8Array>, collector: BodyCollector, signal: AbortSignal) => {
  for await (const chunk of chunks) {
    if (signal.aborted) return
    // A web stream may hold anything.
    if (!(chunk instanceof Uint8Array)) throw new TypeError("A chunk of the body is not bytes")
    const refused = collector.add(chunk)
    if (refused !== undefined) throw refused
  }
}

const collectPlain = (source: BodySource, collector: BodyCollector): Effect.Effect<void, Unread> => {
  if (source instanceof IncomingMessage) return NodeBody.collect(source, collector)
  if (source instanceof Uint8Array) {
    const refused = collector.add(source)
    return refused === undefined ? Effect.void : Effect.fail(refused)
  }
  return Effect.tryPromise({
    try: (signal) => addAll(source, collector, signal),
    catch: (error) => failureOf(error, "The body could not be read to its end")
  })
}

const sinkOf = (collector: BodyCollector): Writable =>
  new Writable({
    // The errors of a collector are instances of Error.
    write: (chunk: Buffer, _encoding, done) => done(collector.add(chunk))
  })

/** What was passed to a decompressor must be what it has consumed: it ignores what follows the end of its stream. */
const checked = (decompressor: Decompressor): { readonly stage: Decompressor; readonly check: () => void } => {
  const transform = decompressor._transform.bind(decompressor)
  let passed = 0
  const hasEnded = () => passed !== decompressor.bytesWritten
  const follows = () => new Error("Something follows the compressed body")
  decompressor._transform = (chunk: Uint8Array, encoding, done) => {
    // A body that goes on is read no further.
    if (hasEnded()) return void decompressor.destroy(follows())
    passed += chunk.length
    transform(chunk, encoding, done)
  }
  const check = () => {
    if (hasEnded()) throw follows()
  }
  return { stage: decompressor, check }
}

/** A decompressor takes tens of microseconds for a chunk of any size: smaller ones are gathered (bytes). */
const gatheredBytes = 16 * 1024

/** Passes bytes on, as many as a body may have: what a decompressor is given may itself have been decompressed from little. */
const bounded = (maxBytes: number): Transform => {
  let passed = 0
  // A buffer of its own, because a small chunk may be a part of a large one, which it would keep.
  let gathered: Buffer | undefined
  let length = 0
  const take = () => {
    const taken = gathered?.subarray(0, length)
    gathered = undefined
    length = 0
    return taken
  }
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      if ((passed += chunk.length) > maxBytes) return done(new PayloadTooLargeError())
      if (length + chunk.length > gatheredBytes) {
        if (length > 0) this.push(take())
        if (chunk.length > gatheredBytes) return done(null, chunk)
      }
      gathered ??= Buffer.allocUnsafeSlow(gatheredBytes)
      gathered.set(chunk, length)
      length += chunk.length
      done()
    },
    flush: (done) => done(null, take())
  })
}

/**
 * What undoes these encodings, each of at most `maxBytes`. `check` throws if something follows what was compressed; it is called
 * after the end.
 */
export const decompression = (encodings: ReadonlyArray<Encoding>, maxBytes: number) => {
  const decompressed = encodings.toReversed().map((name) => ({ name, ...checked(decompressors[name]()) }))
  let frames = 0
  const addFrame = () => {
    if (++frames > maxFrames && maxBytes !== Infinity) throw new PayloadTooLargeError()
  }
  return {
    stages: decompressed.flatMap(({ name, stage }) => [
      ...(maxBytes === Infinity ? [] : [bounded(maxBytes)]),
      ...(name === "zstd" ? [new ZstdFrames(addFrame)] : []),
      stage
    ]),
    check: () => {
      for (const { check } of decompressed) check()
    }
  }
}

/** Decompresses while the bytes arrive, so that neither form of a body that is too large is held whole. */
const collectDecompressed = (
  source: BodySource,
  encodings: ReadonlyArray<Encoding>,
  maxBytes: number,
  collector: BodyCollector
) =>
  Effect.tryPromise({
    try: async (signal) => {
      const compressed = Readable.from(source instanceof Uint8Array ? [source] : chunksOf(source))
      const { check, stages } = decompression(encodings, maxBytes)
      const refusing = [...stages, sinkOf(collector)]
      // The pipeline ends when its source does, which is when the client sends on.
      const refused = Promise.withResolvers<never>()
      for (const stage of refusing) stage.once("error", refused.reject)
      await Promise.race([pipeline([compressed, ...refusing], { signal }), refused.promise])
      check()
    },
    catch: (error) => {
      collector.clear()
      return failureOf(error, `The body is not valid ${encodings.join(", ")}`)
    }
  }).pipe(Effect.catch((error) => (hasClientGone(source) ? Effect.interrupt : Effect.fail(error))))

/**
 * The chunks of a request, without destroying it when they are read no further: a request that is refused is answered over
 * its connection.
 */
export const chunksOf = async function* (source: Exclude<BodySource, Uint8Array>): AsyncIterable<Uint8Array> {
  if (!(source instanceof IncomingMessage)) return yield* source
  const iterator = source.iterator({ destroyOnReturn: false })
  try {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      yield next.value as Uint8Array
    }
  } finally {
    await iterator.return?.()
    // Discards the rest, so that the connection stays usable.
    source.resume()
  }
}

/** Collects what a host has done to the stream of first, so that the rest works on bytes. */
const untouched = Effect.fnUntraced(function* (source: BodySource, maxBytes: number, permit: Permit) {
  if (!(source instanceof IncomingMessage) || !NodeBody.isTouched(source)) return source
  const collector = new BodyCollector(maxBytes, permit)
  yield* NodeBody.collect(source, collector)
  return collector.bytes
})

/** A body that is complete. */
type Collected = Pick<BodyCollector, "bytes" | "isOwned">

/** Reads bodies of one instance. `isEvent` says which limit applies. */
export const make: Effect.Effect<
  (source: BodySource, headers: Headers, isEvent: boolean, permit: Permit) => Effect.Effect<Collected, Unread>
> = Effect.gen(function* () {
  const limits = { event: yield* MaxBodyBytes, other: yield* MaxOtherBodyBytes }
  const warnOfParsedBody = ParsedBody.makeWarning()
  return Effect.fnUntraced(function* (source: BodySource, headers: Headers, isEvent: boolean, permit: Permit) {
    const maxBytes = isEvent ? limits.event : limits.other
    const collector = new BodyCollector(maxBytes, permit)
    // An announced length is refused without reading.
    if (collector.exceedsMaxBody(announcedBytes(headers))) return yield* new PayloadTooLargeError()
    const parsed = source instanceof IncomingMessage ? ParsedBody.find(source) : undefined
    if (parsed !== undefined) {
      yield* collectPlain(parsed.bytes, collector)
      if (!parsed.exact) yield* warnOfParsedBody
      return collector
    }
    const encodings = encodingsOf(headers)
    if (encodings.length === 0) {
      yield* collectPlain(source, collector)
    } else {
      if (!isSupported(encodings)) return yield* new UnsupportedContentEncodingError()
      yield* collectDecompressed(yield* untouched(source, maxBytes, permit), encodings, maxBytes, collector)
    }
    return collector
  })
})
