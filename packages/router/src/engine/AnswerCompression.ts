/**
 * Compresses answers for clients that ask for it (RFC 9110, section 12.5.3). Long ones are compressed in the thread pool of the
 * process, so that neither the thread of the host nor that of the engine waits for them.
 */
import * as Effect from "effect/Effect"
import type { Transform } from "node:stream"
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzipSync,
  zstdCompressSync
} from "node:zlib"
import * as Answer from "../response/Answer.ts"

/** Shorter answers (bytes) are sent as they are: they fit into one packet. */
const minCompressedBytes = 1024

/** Up to this length (bytes) compressing takes less than 0.2 ms, which is less than handing it to another thread. */
const maxBytesAtOnce = 32 * 1024

/** Long answers that are compressed at a time. Others are sent as they are meanwhile. */
const maxConcurrent = 8

const gzipOptions = { level: 4 }
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 3 } }

interface Encoder {
  readonly atOnce: (bytes: Uint8Array) => Uint8Array
  readonly stream: () => Transform
}

/** The one that takes least time for its result first. */
const encoders = {
  zstd: { atOnce: (bytes) => zstdCompressSync(bytes, zstdOptions), stream: () => createZstdCompress(zstdOptions) },
  br: {
    atOnce: (bytes) => brotliCompressSync(bytes, brotliOptions),
    stream: () => createBrotliCompress(brotliOptions)
  },
  gzip: { atOnce: (bytes) => gzipSync(bytes, gzipOptions), stream: () => createGzip(gzipOptions) }
} as const satisfies Readonly<Record<string, Encoder>>

export type Encoding = keyof typeof encoders

const names = Object.keys(encoders) as ReadonlyArray<Encoding>

const member = /^\s*([\w*.-]+)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i

/**
 * What `Accept-Encoding` prefers of the encodings that there are; undefined for an answer as it is. A member that is malformed is
 * ignored.
 */
export const preferred = <E extends Encoding = Encoding>(
  header: string | undefined,
  available = names as ReadonlyArray<E>
): E | undefined => {
  if (header === undefined || header === "") return undefined
  const qualities = new Map<string, number>()
  for (const text of header.split(",")) {
    const [, name, quality = "1"] = member.exec(text) ?? []
    if (name !== undefined) qualities.set(name.toLowerCase().replace(/^x-gzip$/, "gzip"), Number(quality))
  }
  const qualityOf = (name: string) => qualities.get(name) ?? qualities.get("*") ?? 0
  let best: E | undefined
  for (const name of available) if (qualityOf(name) > (best === undefined ? 0 : qualityOf(best))) best = name
  // An answer as it is needs not be named, but it may be preferred.
  return best !== undefined && qualityOf(best) >= (qualities.get("identity") ?? 0) ? best : undefined
}

/** Alone in its memory, so that it can be freed and moved to another thread. */
const joined = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

const partsOf = (body: Answer.Body): ReadonlyArray<Uint8Array> =>
  typeof body === "string" ? [Buffer.from(body)] : body

/** Interrupting it ends the work. */
const inPool = (encoding: Encoding, parts: ReadonlyArray<Uint8Array>): Effect.Effect<Uint8Array> =>
  Effect.callback((resume) => {
    const stream = encoders[encoding].stream()
    const chunks: Array<Uint8Array> = []
    stream.on("data", (chunk: Uint8Array) => chunks.push(chunk))
    stream.once("end", () => resume(Effect.sync(() => joined(chunks))))
    stream.once("error", (error) => resume(Effect.die(error)))
    for (const part of parts) stream.write(part)
    stream.end()
    return Effect.sync(() => void stream.destroy())
  })

type Compress = (answer: Answer.Answer, acceptEncoding: string | undefined) => Effect.Effect<Answer.Answer>

export const make = (): Compress => {
  let running = 0
  /** Compressed forms of bodies that are the same for every request. */
  const shared = new WeakMap<object, Map<Encoding, Uint8Array>>()

  const compressed = (encoding: Encoding, body: Answer.Body, bytes: number): Effect.Effect<Uint8Array | undefined> => {
    if (bytes <= maxBytesAtOnce) {
      return Effect.sync(() => joined([encoders[encoding].atOnce(Answer.whole(partsOf(body)) as Uint8Array)]))
    }
    return Effect.suspend(() =>
      running >= maxConcurrent
        ? Effect.undefined
        : Effect.acquireUseRelease(
            Effect.sync(() => running++),
            () => inPool(encoding, partsOf(body)),
            () => Effect.sync(() => running--)
          )
    )
  }

  const compressedOnce = Effect.fnUntraced(function* (encoding: Encoding, body: Answer.Body & object, bytes: number) {
    const known = shared.get(body) ?? new Map<Encoding, Uint8Array>()
    shared.set(body, known)
    const result = known.get(encoding) ?? (yield* compressed(encoding, body, bytes))
    if (result !== undefined) known.set(encoding, result)
    return result
  })

  return (answer, acceptEncoding) => {
    const { body, headers, isShared } = answer
    // The viewer's files are compressed when they are built; a digest is of the bytes as they are.
    if (headers["content-encoding"] !== undefined || headers["repr-digest"] !== undefined) return Effect.succeed(answer)
    if (typeof body === "string" && body.length < minCompressedBytes / 3) return Effect.succeed(answer)
    const bytes = Answer.byteLength(body)
    if (bytes < minCompressedBytes) return Effect.succeed(answer)
    const varied = { ...answer, headers: { ...answer.headers, vary: "Accept-Encoding" } }
    const encoding = preferred(acceptEncoding)
    if (encoding === undefined) return Effect.succeed(varied)
    const once = isShared === true && typeof body !== "string"
    return Effect.map(once ? compressedOnce(encoding, body, bytes) : compressed(encoding, body, bytes), (result) => {
      if (result === undefined || result.length >= bytes) return varied
      Answer.free(answer)
      return { ...varied, headers: { ...varied.headers, "content-encoding": encoding }, body: [result] }
    })
  }
}
