import { expect, it } from "vitest"
import { forTerminal } from "../../src/terminal/Output.ts"

it("escapes what moves a terminal, and keeps the value of JSON", () => {
  const value = { text: "\u009b31m \u0085 \u007f \u202e \u2066 \u2028 \u2029 \u{e0041} é 漢 😀" }
  const shown = forTerminal(JSON.stringify(value))
  expect(shown).toBe('{"text":"\\u009b31m \\u0085 \\u007f \\u202e \\u2066 \\u2028 \\u2029 \\udb40\\udc41 é 漢 😀"}')
  expect(JSON.parse(shown)).toEqual(value)
})
