/** What a seed decides, so that a run can be had again. */
import { createCipheriv, createHash } from "node:crypto"

export type Labels = ReadonlyArray<string | number>

/** Whole numbers, both ends included. */
export type Random = (min: number, max: number) => number

const digest = (labels: Labels) => createHash("sha256").update(JSON.stringify(labels)).digest()

/** The same numbers for the same labels, which are, say, a seed, a fault and a round. */
export const of = (...labels: Labels): Random => {
  let drawn = 0
  return (min, max) => min + (digest([...labels, drawn++]).readUIntLE(0, 6) % (max - min + 1))
}

/** A text of so many letters, the same for the same labels, of which nothing can be compressed away but the alphabet. */
export const text = (length: number, ...labels: Labels): string =>
  // A cipher makes the most random bytes in the least time.
  createCipheriv("aes-256-ctr", digest(labels), Buffer.alloc(16))
    .update(Buffer.alloc(Math.ceil((length * 3) / 4)))
    .toString("base64url")
    .slice(0, length)
