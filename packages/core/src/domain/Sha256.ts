/** The name of a shared text: the SHA-256 of its JSON text, in lower-case hexadecimal. */
import * as Schema from "effect/Schema"
import * as Violation from "./Violation.ts"

const pattern = "^[0-9a-f]{64}$"
const form = new RegExp(pattern)
const mismatch = {
  type: "string_pattern_mismatch",
  msg: `String should match pattern '${pattern}'`,
  ctx: { pattern }
}

export const Sha256 = Schema.String.check(
  Violation.check((name) => (form.test(name) ? undefined : mismatch), {
    expected: "64 hexadecimal digits in lower case",
    toJsonSchema: () => ({ pattern })
  })
).pipe(Schema.brand("Sha256"))
export type Sha256 = typeof Sha256.Type
