/**
 * Groups of events by the values that they have in some dimensions, in the order of these: at most about as many as a page
 * lists, however many there are.
 */
import { Tally } from "./Tally.ts"

/** A value of a dimension, by which groups are ordered: null for none, which is first. */
export type GroupKey = number | string | null

interface Group {
  readonly keys: ReadonlyArray<GroupKey>
  readonly tally: Tally
}

export interface GroupPage {
  readonly groups: ReadonlyArray<Group>
  /** The keys of the last group, if there are more. */
  readonly next: ReadonlyArray<GroupKey> | undefined
}

const compareKey = (a: GroupKey, b: GroupKey): number => {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? -1 : 1
  // Only a cursor of another query has keys of another type.
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1
  return a < b ? -1 : 1
}

const compare = (a: ReadonlyArray<GroupKey>, b: ReadonlyArray<GroupKey>): number => {
  for (const [index, key] of a.entries()) {
    const order = compareKey(key, b[index] ?? null)
    if (order !== 0) return order
  }
  return 0
}

/** Groups that are kept beside those of the page until the largest are dropped. */
const slack = 1_000

const nameOf = (keys: ReadonlyArray<GroupKey>): string | GroupKey =>
  keys.length === 1 ? keys[0]! : JSON.stringify(keys)

interface Page {
  readonly after?: ReadonlyArray<GroupKey> | undefined
  readonly limit: number
  /** The keys of the only groups that are wanted, in their order. */
  readonly only?: ReadonlyArray<ReadonlyArray<GroupKey>> | undefined
}

export class UsageGroups {
  readonly #after: ReadonlyArray<GroupKey> | undefined
  readonly #limit: number
  /** The places of the only groups that are wanted. */
  readonly #only: ReadonlyMap<string | GroupKey, number> | undefined
  readonly #groups = new Map<string | GroupKey, Group>()
  /** Groups above it have been dropped. */
  #last: ReadonlyArray<GroupKey> | undefined

  constructor({ after, limit, only }: Page) {
    this.#after = after
    this.#limit = limit
    this.#only = only && new Map(only.map((keys, place) => [nameOf(keys), place]))
  }

  /** The sums of the group with these keys; undefined if it is not on this page. */
  of(keys: ReadonlyArray<GroupKey>): Tally | undefined {
    const name = nameOf(keys)
    const found = this.#groups.get(name)
    if (found !== undefined) return found.tally
    if (this.#only !== undefined && !this.#only.has(name)) return undefined
    if (this.#after !== undefined && compare(keys, this.#after) <= 0) return undefined
    if (this.#last !== undefined && compare(keys, this.#last) > 0) return undefined
    if (this.#groups.size >= this.#limit + slack) this.#drop()
    const tally = new Tally()
    this.#groups.set(name, { keys, tally })
    return tally
  }

  /** Whether there are more groups than the page has. */
  get isFull(): boolean {
    return this.#groups.size > this.#limit
  }

  #sorted() {
    const only = this.#only
    return Array.from(this.#groups).sort(([a, { keys }], [b, other]) =>
      only === undefined ? compare(keys, other.keys) : only.get(a)! - only.get(b)!
    )
  }

  /** Keeps one more than the page has. */
  #drop(): void {
    const sorted = this.#sorted()
    this.#last = sorted[this.#limit]![1].keys
    for (const [name] of sorted.slice(this.#limit + 1)) this.#groups.delete(name)
  }

  get page(): GroupPage {
    const groups = this.#sorted().map(([, group]) => group)
    const page = groups.slice(0, this.#limit)
    return { groups: page, next: groups.length > this.#limit ? page.at(-1)!.keys : undefined }
  }
}
