/** The answers that are one text, byte for byte, or a range of it. */
import { type Event, freeMemory } from "@tachograph/core"
import { createHash } from "node:crypto"
import type { Exchange } from "../Engine.ts"
import * as Answer from "../response/Answer.ts"
import * as ByteRange from "./ByteRange.ts"

type Text = keyof Event["payload"]

const other = { inputs: "output", output: "inputs" } as const satisfies Record<Text, Text>

/** Whether a client has a text already (RFC 9110, section 13.1.2), of which a weak tag says the same. */
const isNamed = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch?.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag) === true

/**
 * `Repr-Digest` (RFC 9530) and `ETag` are of the whole text. The digest is of bytes that are not compressed, so the answer is not
 * compressed either.
 */
export const toAnswer = (bytes: Uint8Array, { headers }: Pick<Exchange, "headers">): Answer.Answer => {
  const digest = createHash("sha256").update(bytes).digest("base64")
  const etag = `"${digest}"`
  const described = { "accept-ranges": "bytes", etag, "repr-digest": `sha-256=:${digest}:` }
  if (isNamed(headers["if-none-match"], etag)) {
    freeMemory(bytes)
    return { ...Answer.empty({ etag }), status: 304 }
  }
  const isSame = headers["if-range"] === undefined || headers["if-range"] === etag
  const range = isSame ? ByteRange.parse(headers["range"], bytes.length) : undefined
  if (range === undefined) return Answer.json([bytes], described)
  const size = bytes.length
  if (range === "unsatisfiable") {
    freeMemory(bytes)
    return Answer.refuse(416, "range-not-satisfiable", { "content-range": `bytes */${size}` })
  }
  const part = Uint8Array.from(bytes.subarray(range.start, range.end))
  freeMemory(bytes)
  const answer = Answer.json([part], { ...described, "content-range": `bytes ${range.start}-${range.end - 1}/${size}` })
  return { ...answer, status: 206 }
}

/** One text of an event. The other one is freed. */
export const ofEvent = ({ payload }: Event, text: Text, exchange: Pick<Exchange, "headers">): Answer.Answer => {
  freeMemory(payload[other[text]])
  return toAnswer(payload[text], exchange)
}
