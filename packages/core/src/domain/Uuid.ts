/**
 * UUIDs in the forms that pydantic accepts (hyphenated, simple, braced, URN; any case), normalised to lower-case hyphenated
 * text. Error messages are those of the parser that pydantic uses: `uuid::parser` of the `uuid` crate.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Violation from "./Violation.ts"

const hyphenated = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const simple = /^[0-9a-f]{32}$/i

/** Removes braces or the URN prefix. `offset` is the number of characters before `inner`. */
const unwrap = (text: string): readonly [inner: string, offset: number] => {
  if (text.length > 1 && text.startsWith("{") && text.endsWith("}")) return [text.slice(1, -1), 1]
  if (text.startsWith("urn:uuid:")) return [text.slice(9), 9]
  return [text, 0]
}

const normalise = (text: string): string | undefined => {
  const [inner, offset] = unwrap(text)
  if (hyphenated.test(inner)) return inner.toLowerCase()
  return offset === 0 && simple.test(inner) ? fromHex(inner.toLowerCase()) : undefined
}

/** The UUID that 32 lower-case hexadecimal digits stand for. */
export const fromHex = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`

const groupLengths = [8, 4, 4, 4, 12]
const groupStarts = [0, 9, 14, 19, 24]

const encoder = new TextEncoder()

const hyphen = 0x2d

const isHexDigit = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66)

/** The error message for a text that `normalise` rejected. Positions and lengths count bytes of UTF-8. */
const describeError = (text: string): string => {
  const [inner, offset] = unwrap(text)
  // For an inner text of the right length, the crate reports positions and lengths relative to it, not to the whole text.
  if (offset > 0 && inner.length <= 36 && encoder.encode(inner).length === 36) return describeError(inner)
  /** Positions of the first four hyphens. */
  const hyphens: Array<number> = []
  let groups = 1
  // One code at a time, because the text may be as long as a body. All codes before an invalid one are ASCII.
  for (let index = 0; index < inner.length; index++) {
    const code = inner.charCodeAt(index)
    if (code === hyphen) {
      if (hyphens.length < 4) hyphens.push(index)
      groups++
    } else if (!isHexDigit(code)) {
      const character = String.fromCodePoint(inner.codePointAt(index)!)
      return `invalid character: found \`${character}\` at ${index + offset + 1}`
    }
  }
  // All characters are ASCII, so the length in UTF-16 units is the length in bytes.
  const length = text.length
  if (groups === 1 && offset === 0) {
    return `invalid length: expected length 32 for simple format, found ${length}`
  }
  if (groups !== 5) return `invalid group count: expected 5, found ${groups}`
  const misplaced = hyphens.findIndex((at, i) => at !== groupStarts[i + 1]! - 1)
  const group = misplaced === -1 ? 4 : misplaced
  const groupLength = (misplaced === -1 ? length : hyphens[misplaced]!) - groupStarts[group]!
  return `invalid group length in group ${group}: expected ${groupLengths[group]}, found ${groupLength}`
}

export const Uuid = Schema.String.annotate({ format: "uuid" }).pipe(
  Violation.annotate({ type: "uuid_type", msg: "UUID input should be a string, bytes or UUID object" }),
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transformEffect({
      decode: (text: string, options) => {
        const uuid = normalise(text)
        if (uuid !== undefined) return Effect.succeed(uuid)
        const error = describeError(text)
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
    // Skip the hyphen before the fifth, seventh, ninth and eleventh byte.
    if (at === 4 || at === 6 || at === 8 || at === 10) digit++
    bytes[at] = (nibble(uuid.charCodeAt(digit++)) << 4) | nibble(uuid.charCodeAt(digit++))
  }
  return bytes
}

/** The value of a lower-case hexadecimal digit, given as its character code. */
const nibble = (code: number): number => (code > 0x39 ? code - 0x57 : code - 0x30)

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** In lower case. */
export const bytesToHex = (bytes: Uint8Array): string => {
  let hex = ""
  for (const byte of bytes) hex += hexOfByte[byte]!
  return hex
}

/** The bytes that lower-case hexadecimal digits stand for. */
export const hexToBytes = (hex: string): Uint8Array => {
  const bytes = new Uint8Array(hex.length / 2)
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = (nibble(hex.charCodeAt(2 * at)) << 4) | nibble(hex.charCodeAt(2 * at + 1))
  }
  return bytes
}

export const fromBytes = (bytes: Uint8Array): string => fromHex(bytesToHex(bytes))

/** The time in a UUIDv7, in epoch milliseconds. */
export const timeOf = (uuid: string): number => Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)

/** The one before it in their order. */
export const previous = <Id extends string>(uuid: Id): Id => {
  const bytes = toBytes(uuid)
  let at = bytes.length - 1
  while (at >= 0 && bytes[at] === 0) bytes[at--] = 0xff
  if (at >= 0) bytes[at]!--
  return fromBytes(bytes) as Id
}

/** The one after it in their order; the last one itself. */
export const next = <Id extends string>(uuid: Id): Id => {
  const bytes = toBytes(uuid)
  if (bytes.every((byte) => byte === 0xff)) return uuid
  let at = bytes.length - 1
  while (bytes[at] === 0xff) bytes[at--] = 0
  bytes[at]!++
  return fromBytes(bytes) as Id
}
