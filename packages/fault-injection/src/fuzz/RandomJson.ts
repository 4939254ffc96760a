/** JSON values as texts, of sizes around the thresholds of the format. */
import * as Random from "../harness/Random.ts"

/**
 * Sizes at which something changes: what becomes a piece or a shared piece (`core/payload/scan/PiecePolicy`), how a pack is
 * compressed (`payload/format/Pack`), what is read in one round trip (`read/EventReader`), and how much in one step.
 */
const thresholds = [16, 32, 256, 512, 1024, 3 * 1024, 8 * 1024, 16 * 1024, 32 * 1024, 64 * 1024, 128 * 1024]

/** Larger ones are rare. */
const largeThresholds = [1024 * 1024, 2 * 1024 * 1024, 4 * 1024 * 1024]

/** A random size. Most are small. */
const size = (random: Random.Random): number => {
  if (random(1, 4_000) === 1) return largeThresholds[random(0, largeThresholds.length - 1)]! + random(-2, 2)
  const kind = random(1, 1_000)
  if (kind <= 500) return random(1, 120)
  const draw = () => random(0, thresholds.length - 1)
  const at = Math.min(draw(), draw(), draw())
  const threshold = thresholds[at]!
  return kind <= 750 ? Math.max(1, threshold + random(-3, 3)) : random(1, threshold)
}

const words = ["the", "tool", "returned", "a", "file", "with", "lines", "of", "text", "error", "called", "agent", "and"]

/** The characters of a JSON string between its quotes, `length` of them or a few more. */
const characters = (random: Random.Random, length: number): string => {
  const label = random(0, 2 ** 31)
  switch (random(0, 9)) {
    case 0:
    case 1:
    case 2:
      return Random.text(length, label)
    case 3:
      return "0".repeat(length)
    case 4: {
      const units = ["é", "漢", "😀", "\\u0000", "\\ud800", "\\n", '\\"', "\\/", "\\u00e9", "a"]
      const part = Array.from({ length: 40 }, () => units[random(0, units.length - 1)]!).join("")
      return part.repeat(Math.ceil(length / part.length))
    }
    case 5: {
      // Repeats from a distance, as a file does that is read twice.
      const part = Random.text(Math.max(1, length >> 2), label)
      return part.repeat(4).padEnd(length, "x")
    }
    default: {
      const text = Array.from({ length: Math.min(40, length) }, () => words[random(0, words.length - 1)]!).join(" ")
      return text.repeat(Math.ceil(length / text.length)).slice(0, length)
    }
  }
}

export const string = (random: Random.Random, length = size(random)): string => `"${characters(random, length)}"`

const space = (random: Random.Random): string => (random(0, 15) === 0 ? [" ", "\n", "\t", "\r\n  "][random(0, 3)]! : "")

/** An object of these members, at times in another order or with white space. */
export const object = (
  random: Random.Random,
  members: ReadonlyArray<readonly [name: string, value: string]>
): string => {
  const ordered = random(0, 20) === 0 ? members.toReversed() : members
  const gap = space(random)
  return `{${gap}${ordered.map(([name, value]) => `"${name}"${gap}:${gap}${value}`).join(`${gap},${gap}`)}${gap}}`
}

export const array = (random: Random.Random, values: ReadonlyArray<string>): string => {
  const gap = space(random)
  return `[${gap}${values.join(`${gap},${gap}`)}${gap}]`
}

const scalars = ["0", "-0", "1.0", "1e5", "1E-3", "12345678901234567890", "true", "false", "null", '""', "[]", "{}"]

/** Any value. */
export const value = (random: Random.Random, depth = 0): string => {
  switch (random(0, depth > 4 ? 3 : 6)) {
    case 0:
    case 1:
      return scalars[random(0, scalars.length - 1)]!
    case 2:
    case 3:
      return string(random)
    case 4:
      return array(
        random,
        Array.from({ length: random(0, 6) }, () => value(random, depth + 1))
      )
    case 5: {
      // As deep as pieces are searched for, and deeper.
      const levels = random(28, 36)
      return `${"[".repeat(levels)}${string(random)}${"]".repeat(levels)}`
    }
    default:
      return object(
        random,
        // Names may repeat.
        Array.from({ length: random(0, 5) }, () => [`k${random(0, 5)}`, value(random, depth + 1)] as const)
      )
  }
}
