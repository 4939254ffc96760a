/** Pseudorandom values determined by a seed, so that a run can be repeated. */
import { createCipheriv, createHash } from "node:crypto"

export type Labels = ReadonlyArray<string | number>

/** A whole number from `min` to `max`, inclusive. */
export type Random = (min: number, max: number) => number

const digest = (labels: Labels) => createHash("sha256").update(JSON.stringify(labels)).digest()

/** Returns the same sequence for the same labels, e.g. a seed, a fault and a round. */
export const of = (...labels: Labels): Random => {
  let drawn = 0
  return (min, max) => min + (digest([...labels, drawn++]).readUIntLE(0, 6) % (max - min + 1))
}

/** An incompressible base64url text of `length` characters, the same for the same labels. */
export const text = (length: number, ...labels: Labels): string =>
  // A cipher generates random bytes faster than a hash.
  createCipheriv("aes-256-ctr", digest(labels), Buffer.alloc(16))
    .update(Buffer.alloc(Math.ceil((length * 3) / 4)))
    .toString("base64url")
    .slice(0, length)
