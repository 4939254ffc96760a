/** Texts that differ in one short place only, such as a time stamp in a prompt, as variants of one. */

/** Fewer texts are changes that somebody made. */
const minVariants = 3

/** The place has at most so many characters, and never more than what is the same around it. */
const maxPlace = 100

/** Characters that are the same and are compared for one page: some tenths of a second's work. What comes after stands alone. */
const maxCompared = 100_000_000

/** What are variants of one; alone where it has no other. The order stays: the first of `items` stands for all. */
export interface Group<A> {
  readonly items: ReadonlyArray<A>
  /** How long the texts are the same before the place, and after it. */
  readonly before: number
  readonly after: number
}

// Half of a character that both have is none.

const sameBefore = (one: string, other: string, most: number): number => {
  let at = 0
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return /[\uD800-\uDBFF]/.test(one.charAt(at - 1)) ? at - 1 : at
}

const sameAfter = (one: string, other: string, most: number): number => {
  let at = 0
  while (at < most && one.charCodeAt(one.length - 1 - at) === other.charCodeAt(other.length - 1 - at)) at++
  return /[\uDC00-\uDFFF]/.test(one.charAt(one.length - at)) ? at - 1 : at
}

class Variants<A> {
  readonly items: Array<A>
  readonly #text: string
  #before: number
  #after: number
  #shortest: number
  #longest: number

  constructor(first: A, text: string) {
    this.items = [first]
    this.#text = text
    this.#before = this.#after = this.#shortest = this.#longest = text.length
  }

  /** Takes a text if it differs from the others only in the place where these differ. `compared` is told what that took. */
  take(item: A, text: string, compared: (characters: number) => void): boolean {
    const shortest = Math.min(this.#shortest, text.length)
    const longest = Math.max(this.#longest, text.length)
    const before = sameBefore(this.#text, text, Math.min(this.#before, shortest))
    const after = sameAfter(this.#text, text, Math.min(this.#after, shortest - before))
    compared(before + after)
    const place = longest - before - after
    if (place > maxPlace || place > before + after) return false
    this.items.push(item)
    this.#before = before
    this.#after = after
    this.#shortest = shortest
    this.#longest = longest
    return true
  }

  get groups(): ReadonlyArray<Group<A>> {
    return this.items.length < minVariants
      ? this.items.map((item) => ({ items: [item], before: 0, after: 0 }))
      : [{ items: this.items, before: this.#before, after: this.#after }]
  }
}

/** `keyOf` is what variants have in common besides. */
export const group = <A>(
  items: ReadonlyArray<A>,
  textOf: (item: A) => string,
  keyOf: (item: A) => string
): ReadonlyArray<Group<A>> => {
  const found = new Map<string, Array<Variants<A>>>()
  let left = maxCompared
  const compared = (characters: number) => {
    left -= characters
  }
  for (const item of items) {
    const text = textOf(item)
    const others = found.get(keyOf(item)) ?? []
    found.set(keyOf(item), others)
    if (!others.some((variants) => left > 0 && variants.take(item, text, compared)))
      others.push(new Variants(item, text))
  }
  const place = new Map(items.map((item, index) => [item, index]))
  return Array.from(found.values())
    .flatMap((all) => all.flatMap(({ groups }) => groups))
    .toSorted((one, other) => place.get(one.items[0]!)! - place.get(other.items[0]!)!)
}

/** Its first character, from 1: Unicode code points. */
export const characterOf = <A>({ before }: Group<A>, text: string): number =>
  Array.from(text.slice(0, before)).length + 1

/** What a text has at the place. */
export const placeOf = <A>({ after, before }: Group<A>, text: string): string => text.slice(before, text.length - after)
