/** What a client calls a request by: sending it again under the same key does no more than the first time. */
import { Duration, Schema } from "effect"
import { Name } from "./Name.ts"

export const IdempotencyKey = Name.pipe(Schema.brand("IdempotencyKey"))
export type IdempotencyKey = typeof IdempotencyKey.Type

/** From the receipt of the event: then the key is free again. */
export const keysKeptFor = Duration.days(7)

export interface Idempotency {
  readonly key: IdempotencyKey
  /** The SHA-256 of the body that was sent with it, decompressed. */
  readonly bodyHash: Uint8Array
}
