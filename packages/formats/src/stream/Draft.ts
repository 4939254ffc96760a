/** Objects that are built from the pieces of a stream. */
import type { Json, JsonObject } from "../Format.ts"
import { define } from "../json/ExactJson.ts"
import { get, isEmpty, isObject } from "../json/Read.ts"

/** An object that is being built. Its keys are in the order in which they came. */
export type Draft = { [key: string]: Json }

/** Sets the fields of another object. Copies of both would take as long for each event as for all that came before. */
export const assign = (draft: Draft, fields: JsonObject, except: ReadonlySet<string> = new Set()) => {
  for (const [key, value] of Object.entries(fields)) if (!except.has(key)) define(draft, key, value)
}

/** Objects that were seen not to be empty, so that their keys are listed once. */
const full = new WeakSet<object>()

/** Sets a field of which the first value counts that says something. */
export const setFirst = (draft: Draft, key: string, value: Json) => {
  const current = get(draft, key)
  if (full.has(current as object)) return
  if (isEmpty(current) || current === 0) define(draft, key, value)
  else if (isObject(current)) full.add(current)
}

/** Sets a field of which the last value counts that says something. */
export const setLast = (draft: Draft, key: string, value: Json) => {
  if (!Object.hasOwn(draft, key) || !isEmpty(value)) define(draft, key, value)
}

/** Appends a piece of text. `+` on strings is cheap: engines join the pieces when somebody reads them. */
export const append = (draft: Draft, key: string, piece: Json) => {
  const current = get(draft, key)
  if (typeof piece !== "string") return setFirst(draft, key, piece)
  define(draft, key, typeof current === "string" ? current + piece : piece)
}

/** Fields that come in pieces. */
export const pieces: ReadonlySet<string> = new Set([
  ...["refusal", "reasoning", "reasoning_content", "reasoning_text", "thinking"],
  ...["arguments", "input", "transcript", "text", "summary", "data"]
])

/** Brings the fields of a delta into a draft: pieces are joined, of other fields the last that says something counts. */
export const merge = (draft: Draft, delta: JsonObject, once: ReadonlyArray<string>) => {
  for (const [key, value] of Object.entries(delta)) {
    if (once.includes(key)) setFirst(draft, key, value)
    else if (pieces.has(key)) append(draft, key, value)
    else setLast(draft, key, value)
  }
}

/**
 * Places of an answer that are kept, of choices, items, steps or tool calls: more than any answer has. Each takes a kilobyte or two,
 * and a hostile stream begins one with every few bytes. What comes for others is left out.
 */
export const maxPlaces = 10_000

/** What is at a place, made where it was not there. Undefined where there is no room. */
export const atPlace = <Place, A>(all: Map<Place, A>, place: Place, make: () => A): A | undefined => {
  const known = all.get(place)
  if (known !== undefined || all.size >= maxPlaces) return known
  const made = make()
  all.set(place, made)
  return made
}

/** Where an index stands whose use may begin again: between the place of its first use and that of the next index. */
export const makeUses = () => {
  const uses = new Map<number, number>()
  return {
    placeOf: (index: number): number => index + (uses.get(index) ?? 0) / maxPlaces,
    again: (index: number) => void uses.set(index, (uses.get(index) ?? 0) + 1)
  }
}

/** What came for each place, in the order of the places. */
export const byPlace = <A>(all: ReadonlyMap<number, A>): ReadonlyArray<A> =>
  [...all].toSorted(([a], [b]) => a - b).map(([, each]) => each)

const isSorted = (keys: ReadonlyArray<string>) =>
  keys.every((key, index) => index === 0 || (keys[index - 1] as string) <= key)

/**
 * Puts fields in order: those that came sorted are sorted, those that begin as `order` does are in that order, and any others
 * are in the order in which they came.
 */
export const inOrder = (fields: JsonObject, came: ReadonlyArray<string>, order: ReadonlyArray<string>): JsonObject => {
  const entries = Object.entries(fields)
  if (came.length > 2 && isSorted(came)) return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
  if (came[0] !== order[0] || (came[1] ?? order[1]) !== order[1]) return fields
  const place = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length)
  return Object.fromEntries(entries.toSorted(([a], [b]) => place(a) - place(b)))
}
