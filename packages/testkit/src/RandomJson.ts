/** Arbitrary JSON texts for property tests, including spellings that `JSON.stringify` never produces. */
import fc from "fast-check"

const runsFactor = Number(process.env["TACHOGRAPH_TEST_RUNS"] ?? 0.25)

/** The number of runs of a property test: a quarter of `thorough`, or `TACHOGRAPH_TEST_RUNS` times as many. */
export const runs = (thorough: number): number => Math.ceil(thorough * runsFactor)

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/)

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom(
    "0",
    "-0",
    "1.0",
    "0.1000",
    "-0.0e-0",
    "1e400",
    "9007199254740993",
    "1E+2",
    "123456789012345678901234567890"
  )
)

/** Code points that are not characters. */
const surrogates = { first: 0xd800, count: 0x800 }

const character = fc
  .nat(0x10ffff - surrogates.count)
  .map((n) => String.fromCodePoint(n < surrogates.first ? n : n + surrogates.count))

/** Strings of any Unicode characters: `unit: "binary"` of fast-check, without its table, which takes a second to make. */
export const unicode = (lengths: { readonly minLength?: number; readonly maxLength?: number } = {}) =>
  fc.string({ unit: character, ...lengths })

/** A part of a string, in one of its spellings. */
const part = fc.oneof(
  unicode({ minLength: 1, maxLength: 4 }).map((text) => JSON.stringify(text).slice(1, -1)),
  fc.constantFrom(
    ...["\\u0000", "\\ud800", "\\udfff", "\\ud83d\\ude00", "\\/", "/", "\\\\", '\\"', "\\b\\f\\n\\r\\t"],
    ...["\\u00e9", "é", "\\u0022", "{", "}", "[", "]", ":", ",", "__proto__"]
  )
)

const string = fc.array(part, { maxLength: 8 }).map((parts) => `"${parts.join("")}"`)

const joined = (open: string, close: string) => (items: ReadonlyArray<string>) => `${open}${items.join(",")}${close}`

const spaced = (value: fc.Arbitrary<string>) => fc.tuple(space, value, space).map((parts) => parts.join(""))

const { object, value } = fc.letrec<{ value: string; object: string }>((tie) => {
  const member = fc.tuple(spaced(string), spaced(tie("value"))).map(([key, of]) => `${key}:${of}`)
  const members = fc.array(member, { maxLength: 5 })
  const inside = fc.oneof(
    members.map(joined("{", "}")),
    space.map((inner) => `{${inner}}`)
  )
  const elements = fc.array(spaced(tie("value")), { maxLength: 5 }).map(joined("[", "]"))
  return {
    object: inside,
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom("true", "false", "null"),
      number,
      string,
      tie("object"),
      elements
    )
  }
})

/** The text of any JSON value. */
export const jsonText: fc.Arbitrary<string> = spaced(value)

/** The text of a JSON object, without surrounding white space. */
export const jsonObjectText: fc.Arbitrary<string> = object
