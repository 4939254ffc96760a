/**
 * UUIDs as pydantic takes them (hyphenated, simple, braced, URN; any case), normalised to lower-case hyphenated text,
 * and refused with the messages of the parser that it uses: the `uuid` crate, `uuid::parser`.
 */
import { Effect, Schema, SchemaTransformation } from "effect"
import * as Violation from "./Violation.ts"

const hyphenated = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const simple = /^[0-9a-f]{32}$/i

/** The text inside braces or behind the URN's prefix, and how many characters stand before it. */
const unwrap = (text: string): readonly [inner: string, offset: number] =>
  text.length > 1 && text.startsWith("{") && text.endsWith("}")
    ? [text.slice(1, -1), 1]
    : text.startsWith("urn:uuid:")
      ? [text.slice(9), 9]
      : [text, 0]

const normalise = (text: string): string | undefined => {
  const [inner, offset] = unwrap(text)
  if (hyphenated.test(inner)) return inner.toLowerCase()
  return offset === 0 && simple.test(inner) ? fromHex(inner.toLowerCase()) : undefined
}

const fromHex = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`

const groupLengths = [8, 4, 4, 4, 12]
const groupStarts = [0, 9, 14, 19, 24]

const encoder = new TextEncoder()

const utf8Length = (character: string): number => {
  const code = character.codePointAt(0)!
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4
}

/** Says what is wrong with a text that `normalise` refused. Positions and lengths count bytes of UTF-8. */
const complaint = (text: string): string => {
  const [inner, offset] = unwrap(text)
  // Of a wrapped text of the right length that parser looks at what is inside, and has forgotten the rest.
  if (offset > 0 && inner.length <= 36 && encoder.encode(inner).length === 36) return complaint(inner)
  /** Where the first four hyphens stand. */
  const hyphens: Array<number> = []
  let groups = 1
  let index = 0
  for (const character of inner) {
    if (character === "-") {
      if (hyphens.length < 4) hyphens.push(index)
      groups++
    } else if (!/[0-9a-f]/i.test(character)) {
      return `invalid character: found \`${character}\` at ${index + offset + 1}`
    }
    index += utf8Length(character)
  }
  // All characters were found to be ASCII.
  const length = text.length
  if (groups === 1 && offset === 0) {
    return `invalid length: expected length 32 for simple format, found ${length}`
  }
  if (groups !== 5) return `invalid group count: expected 5, found ${groups}`
  const misplaced = hyphens.findIndex((at, i) => at !== groupStarts[i + 1]! - 1)
  const group = misplaced === -1 ? 4 : misplaced
  const found = (misplaced === -1 ? length : hyphens[misplaced]!) - groupStarts[group]!
  return `invalid group length in group ${group}: expected ${groupLengths[group]}, found ${found}`
}

export const Uuid = Schema.String.annotate({ format: "uuid" }).pipe(
  Violation.annotate({ type: "uuid_type", msg: "UUID input should be a string, bytes or UUID object" }),
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transformEffect({
      decode: (text: string, options) => {
        const uuid = normalise(text)
        if (uuid !== undefined) return Effect.succeed(uuid)
        const error = complaint(text)
        const msg = `Input should be a valid UUID, ${error}`
        return Effect.fail(Violation.issue({ type: "uuid_parsing", msg, ctx: { error } }, text, options))
      },
      encode: (uuid: string) => Effect.succeed(uuid)
    })
  )
)

export const toBytes = (uuid: string): Uint8Array => {
  const bytes = new Uint8Array(16)
  for (let at = 0, digit = 0; at < 16; at++) {
    // A hyphen stands in front of the fifth, seventh, ninth and eleventh byte.
    if (at === 4 || at === 6 || at === 8 || at === 10) digit++
    bytes[at] = (nibble(uuid.charCodeAt(digit++)) << 4) | nibble(uuid.charCodeAt(digit++))
  }
  return bytes
}

/** Of a digit of lower-case hexadecimal. */
const nibble = (code: number): number => (code > 0x39 ? code - 0x57 : code - 0x30)

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

export const fromBytes = (bytes: Uint8Array): string => {
  let hex = ""
  for (const byte of bytes) hex += hexOfByte[byte]!
  return fromHex(hex)
}
