/** Texts of hexadecimal digits in lower case. */
import * as Schema from "effect/Schema"
import * as Violation from "./Violation.ts"

/** `violationOf` says what else is wrong with a text of so many digits. */
export const ofDigits = (
  digits: number,
  violationOf: (hex: string) => Violation.Violation | undefined = () => undefined
) => {
  const pattern = `^[0-9a-f]{${digits}}$`
  const form = new RegExp(pattern)
  const mismatch = {
    type: "string_pattern_mismatch",
    msg: `String should match pattern '${pattern}'`,
    ctx: { pattern }
  }
  return Schema.String.check(
    Violation.check((hex) => (form.test(hex) ? violationOf(hex) : mismatch), {
      expected: `${digits} hexadecimal digits in lower case`,
      toJsonSchema: () => ({ pattern })
    })
  )
}
