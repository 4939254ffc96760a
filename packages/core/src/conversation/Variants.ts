/** Instructions that differ in one short place only, such as a time stamp in a prompt, as variants of one. */
import type { Part } from "@tachograph/formats"
import * as ExactJson from "@tachograph/formats/json/ExactJson"

/** Fewer texts are changes that somebody made. */
const minVariants = 3

/** The place has at most so many characters, and never more than what is the same around it. */
const maxPlace = 100

/** Characters that are the same and are compared for one page: some tenths of a second's work. What comes after stands alone. */
const maxCompared = 40_000_000

const separator = "\u0000"

const contentOf = ({ content, type }: Part): string => (type === "text" && typeof content === "string" ? content : "")

/** Instructions as they are compared. */
export interface Compared {
  /** The texts of the parts. */
  readonly text: string
  /** All else of them. */
  readonly rest: string
}

export const comparedOf = (instructions: ReadonlyArray<Part>): Compared => {
  const contents = instructions.map(contentOf)
  const isClear = contents.every((content) => !content.includes(separator))
  const rest = instructions.map((part, index) => (isClear && contents[index] !== "" ? { ...part, content: "" } : part))
  return {
    text: isClear ? contents.join(separator) : "",
    rest: ExactJson.stringify(rest as ReadonlyArray<ExactJson.ExactJson>, true)
  }
}

/** Characters that are compared at once. */
const block = 1_024

/** A block of a text, so many characters before its end. */
const endAt = (text: string, at: number): string => text.slice(text.length - at - block, text.length - at)

// Half of a character that both have is none.

const sameBefore = (one: string, other: string, most: number): number => {
  let at = 0
  while (at + block <= most && one.slice(at, at + block) === other.slice(at, at + block)) at += block
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return /[\uD800-\uDBFF]/.test(one.charAt(at - 1)) ? at - 1 : at
}

const sameAfter = (one: string, other: string, most: number): number => {
  let at = 0
  while (at + block <= most && endAt(one, at) === endAt(other, at)) at += block
  while (at < most && one.charCodeAt(one.length - 1 - at) === other.charCodeAt(other.length - 1 - at)) at++
  return /[\uDC00-\uDFFF]/.test(one.charAt(one.length - at)) ? at - 1 : at
}

/** How long a text is the same as the first before the place, and after it, and what it has there. */
interface Placed {
  readonly before: number
  readonly after: number
  readonly text: string
}

/** Where variants differ. */
export interface Place {
  /** The part of the instructions, from 1. */
  readonly part: number
  /** Its first character that differs, from 1: Unicode code points. */
  readonly character: number
}

/** The first stands for all. Of the others no text is kept, but what they have at the place. */
export class Variants<A> {
  readonly items: Array<A>
  readonly #text: string
  readonly #places: Array<Placed>
  #before: number
  #after: number
  #shortest: number
  #longest: number

  constructor(first: A, text: string) {
    this.items = [first]
    this.#text = text
    this.#before = this.#after = this.#shortest = this.#longest = text.length
    this.#places = [{ before: text.length, after: 0, text: "" }]
  }

  /** Rows that it is, with `more` items. */
  rowsWith(more: number): number {
    return this.items.length + more < minVariants ? this.items.length + more : 1
  }

  /** Where the texts and this one differ, if that is one short place in one part. `compared` is told what it took to find that. */
  find(text: string, compared: (characters: number) => void): Placed | undefined {
    const shortest = Math.min(this.#shortest, text.length)
    const before = sameBefore(this.#text, text, Math.min(this.#before, shortest))
    const after = sameAfter(this.#text, text, Math.min(this.#after, shortest - before))
    compared(before + after)
    const place = Math.max(this.#longest, text.length) - before - after
    if (place > maxPlace || place > before + after) return undefined
    const there = text.slice(before, text.length - after)
    const first = this.#text.slice(before, this.#text.length - after)
    return there.includes(separator) || first.includes(separator) ? undefined : { before, after, text: there }
  }

  add(item: A, placed: Placed): void {
    const length = placed.before + placed.text.length + placed.after
    this.items.push(item)
    this.#places.push(placed)
    this.#before = placed.before
    this.#after = placed.after
    this.#shortest = Math.min(this.#shortest, length)
    this.#longest = Math.max(this.#longest, length)
  }

  get place(): Place {
    const before = this.#text.slice(0, this.#before)
    const part = before.split(separator)
    return { part: part.length, character: Array.from(part.at(-1)!).length + 1 }
  }

  /** What an item has at the place. Around its own place it is like the first. */
  textAt(index: number): string {
    const { after, before, text } = this.#places[index]!
    const end = this.#text.length
    return (
      this.#text.slice(this.#before, Math.min(before, end - this.#after)) +
      text +
      this.#text.slice(Math.max(before, end - after), end - this.#after)
    )
  }
}

/** All variants of a page, by what they have in common besides. */
export class VariantsOfAll<A> {
  readonly all: Array<Variants<A>> = []
  readonly #byKey = new Map<string, Array<Variants<A>>>()
  #left = maxCompared
  #rows = 0

  /** How many rows they are. */
  get rows(): number {
    return this.#rows
  }

  /** Characters that may still be compared. */
  get left(): number {
    return this.#left
  }

  /** Adds an item that `make` makes, unless there would be more rows than `limit`. Tells it whether it is in a row with others. */
  add(key: string, text: string, limit: number, make: (isVariant: boolean) => A | undefined): A | undefined {
    const others = this.#byKey.get(key) ?? []
    const compared = (characters: number) => {
      this.#left -= characters
    }
    for (const variants of others) {
      const placed = this.#left > 0 ? variants.find(text, compared) : undefined
      if (placed === undefined) continue
      const more = variants.rowsWith(1) - variants.rowsWith(0)
      const item = this.#rows + more > limit ? undefined : make(variants.rowsWith(1) === 1)
      if (item === undefined) return undefined
      variants.add(item, placed)
      this.#rows += more
      return item
    }
    const item = this.#rows >= limit ? undefined : make(false)
    if (item === undefined) return undefined
    const variants = new Variants(item, text)
    this.#byKey.set(key, [...others, variants])
    this.all.push(variants)
    this.#rows++
    return item
  }
}
