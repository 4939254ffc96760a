/** What a client calls a request by: sending it again under the same key does no more than the first time. */
import { Duration, Schema } from "effect"
import { Name } from "./Name.ts"
import * as Violation from "./Violation.ts"

/** In a header, whatever else has come to mean different things to different readers. */
const printable = Violation.check(
  (key: string) =>
    /^[ -~]*$/.test(key) ? undefined : Violation.valueError("idempotency keys are of printable ASCII characters"),
  { expected: "printable ASCII characters" }
)

export const IdempotencyKey = Name.check(printable).pipe(Schema.brand("IdempotencyKey"))
export type IdempotencyKey = typeof IdempotencyKey.Type

/** From the receipt of the event: then the key is free again. */
export const idempotencyKeyTtl = Duration.days(7)

export interface Idempotency {
  readonly key: IdempotencyKey
  /** The SHA-256 of the body that was sent with it, decompressed. */
  readonly bodyHash: Uint8Array
}
