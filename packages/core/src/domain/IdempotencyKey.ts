/** A client's name for a request: repeating the request under the same key has no further effect. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { nameCheck } from "./Name.ts"
import * as Violation from "./Violation.ts"

/** The key is sent in a header, where HTTP implementations disagree on how to decode other characters. */
const printable = Violation.check(
  (key: string) =>
    /^[ -~]*$/.test(key)
      ? undefined
      : Violation.valueError("idempotency keys must consist of printable ASCII characters"),
  { expected: "printable ASCII characters", toJsonSchema: () => ({ pattern: "^[ -~]*$" }) }
)

export const IdempotencyKey = Schema.String.annotate({ description: "1 to 255 printable ASCII characters" })
  .check(nameCheck, printable)
  .pipe(Schema.brand("IdempotencyKey"))
export type IdempotencyKey = typeof IdempotencyKey.Type

/** How long a key is reserved, counted from the receipt of its event. */
export const idempotencyKeyTtl = Duration.days(7)

export interface Idempotency {
  readonly key: IdempotencyKey
  /** The SHA-256 of the decompressed request body. */
  readonly bodyHash: Uint8Array
}
