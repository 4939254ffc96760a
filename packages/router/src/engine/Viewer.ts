/** The viewer: pages that `@tachograph/viewer` holds compressed. They need no key: the page asks for one. */
import { Lazy } from "@tachograph/core"
import type { Asset } from "@tachograph/viewer"
import * as Effect from "effect/Effect"
import { brotliDecompressSync, gzipSync } from "node:zlib"
import type { viewerPaths } from "../Engine.ts"
import type { Operation } from "../handlers/Operation.ts"
import * as Answer from "../response/Answer.ts"
import * as AnswerCompression from "./AnswerCompression.ts"
import * as LazyPages from "./LazyPages.ts"

/** Everything comes from here, no text becomes markup or script, and no other page can hold the viewer. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types tachograph"
].join("; ")

const headers = {
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  vary: "Accept-Encoding"
}

const index = "index.html"

/** The names of all other files change with their contents. */
const cacheControl = (asset: Asset) => (asset.path === index ? "no-cache" : "public, max-age=31536000, immutable")

type Encoding = "br" | "gzip" | undefined

const bytesOf = (asset: Asset, encoding: Encoding): Uint8Array => {
  const brotli = Buffer.from(asset.brotli, "base64")
  if (encoding === "br") return brotli
  const bytes = brotliDecompressSync(brotli)
  return encoding === "gzip" ? gzipSync(bytes) : bytes
}

/** The module has as many bytes as all pages: it is loaded when one of them is first asked for. */
const load = Effect.map(
  Effect.promise(() => import("@tachograph/viewer")),
  ({ assets }) => new Map(assets.map((asset) => [asset.path, asset]))
)

const notFound = Answer.refuse(404, "not-found")

/** Weak comparison (RFC 9110, section 8.8.3.2). */
const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header
    .split(",")
    .map((each) => each.trim())
    .some((each) => each === "*" || each === etag)

export const operations = Effect.gen(function* () {
  const loaded = LazyPages.orOverloaded(yield* Lazy.ofModule(load))
  const answers = new Map<string, Answer.Answer>()

  const answerOf = (asset: Asset, encoding: Encoding): Answer.Answer => {
    const name = `${encoding} ${asset.path}`
    const known = answers.get(name)
    if (known !== undefined) return known
    const answer = {
      status: 200,
      headers: {
        ...headers,
        "content-type": asset.type,
        "cache-control": cacheControl(asset),
        etag: asset.etag,
        ...(encoding === undefined ? {} : { "content-encoding": encoding })
      },
      body: [bytesOf(asset, encoding)],
      isShared: true
    }
    answers.set(name, answer)
    return answer
  }

  const file =
    (pathOf: (params: Readonly<Record<string, string>>) => string): Operation =>
    (exchange) =>
      Effect.map(loaded, (assets) => {
        const asset = assets.get(pathOf(exchange.params))
        if (asset === undefined) return notFound
        const { "accept-encoding": accepted, "if-none-match": known } = exchange.headers
        const answer = answerOf(asset, AnswerCompression.preferred(accepted, ["br", "gzip"]))
        if (!matches(known, asset.etag)) return answer
        const { "content-encoding": _, "content-type": __, ...kept } = answer.headers as Record<string, string>
        return { ...answer, status: 304, headers: kept, body: "" }
      })

  return {
    viewer: file(() => index),
    viewerFile: file(({ file }) => `assets/${file}`),
    // Relative, because a framework may have removed the path below which everything is mounted.
    viewerRedirect: () => Effect.succeed({ status: 308, headers: { location: "viewer/" }, body: "" })
  } satisfies Record<keyof typeof viewerPaths, Operation>
})
