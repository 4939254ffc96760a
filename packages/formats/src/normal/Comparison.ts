/** Two conversations, message by message. */
import type { Message, Part } from "../Format.ts"
import { align } from "./Alignment.ts"
import { identity } from "./Identity.ts"
import { leadingInstructions } from "./Instructions.ts"

/** What is needed of a message in normal form. One that is damaged is like no other. */
export interface Said {
  readonly role: string
  readonly parts: ReadonlyArray<{ readonly type: string }>
  readonly is_damaged?: true | undefined
}

/** Messages that say the same and follow each other; two of the same role that say something else in the same place; or one alone. */
export type Compared<M extends Said> =
  | { readonly kind: "equal"; readonly before: ReadonlyArray<M>; readonly after: ReadonlyArray<M> }
  | { readonly kind: "different"; readonly before: M; readonly after: M }
  | { readonly kind: "only-before"; readonly before: M }
  | { readonly kind: "only-after"; readonly after: M }

/** The messages after the instructions that begin them: those are settings. */
export const withoutInstructions = <M extends Said>(messages: ReadonlyArray<M>): ReadonlyArray<M> =>
  messages.slice(leadingInstructions(messages))

const keys = new WeakMap<Said, unknown>()

/** Equal for messages that say the same. Providers draw the ids of tool calls anew with each answer, so that these do not count. */
const keyOf = (message: Said): unknown => {
  if (message.is_damaged === true) return message
  const known = keys.get(message)
  if (known !== undefined) return known
  // What is null does not count.
  const parts = (message.parts as ReadonlyArray<Part>).map((part) => ({ ...part, id: null }) as Part)
  const key = identity({ ...(message as Message), parts })
  keys.set(message, key)
  return key
}

/** Messages among which the next one of the same role is looked for. */
const maxApart = 8

const distanceTo = (role: string, messages: ReadonlyArray<Said>, from: number): number => {
  const distance = messages.slice(from, from + maxApart).findIndex((message) => message.role === role)
  return distance === -1 ? Infinity : distance
}

/** Messages that are not aligned: those of the same role beside each other. Some may be equal, where very many were aligned. */
const pairs = function* <M extends Said>(
  before: ReadonlyArray<M>,
  after: ReadonlyArray<M>
): Generator<Compared<M>, void> {
  let [old, now] = [0, 0]
  while (old < before.length && now < after.length) {
    const [one, other] = [before[old]!, after[now]!]
    const [inBefore, inAfter] = [distanceTo(other.role, before, old), distanceTo(one.role, after, now)]
    if (inBefore === 0) {
      if (keyOf(one) === keyOf(other)) yield { kind: "equal", before: [one], after: [other] }
      else yield { kind: "different", before: one, after: other }
      old++
      now++
    } else if (inBefore <= inAfter) {
      yield { kind: "only-before", before: one }
      old++
    } else {
      yield { kind: "only-after", after: other }
      now++
    }
  }
  for (const message of before.slice(old)) yield { kind: "only-before", before: message }
  for (const message of after.slice(now)) yield { kind: "only-after", after: message }
}

/** All messages of both, in their order. Takes time with the number of messages. */
export const compare = <M extends Said>(
  before: ReadonlyArray<M>,
  after: ReadonlyArray<M>
): ReadonlyArray<Compared<M>> => {
  const rows: Array<Compared<M>> = []
  let equal: { readonly before: Array<M>; readonly after: Array<M> } | undefined
  const add = (row: Compared<M>): void => {
    if (row.kind !== "equal") {
      rows.push(row)
      equal = undefined
      return
    }
    if (equal === undefined) rows.push({ kind: "equal", ...(equal = { before: [], after: [] }) })
    equal.before.push(...row.before)
    equal.after.push(...row.after)
  }
  let [old, now] = [0, 0]
  const addUpTo = (oldEnd: number, nowEnd: number): void => {
    for (const row of pairs(before.slice(old, oldEnd), after.slice(now, nowEnd))) add(row)
  }
  for (const [at, oldAt] of align(before.map(keyOf), after.map(keyOf)).entries()) {
    if (oldAt === -1) continue
    addUpTo(oldAt, at)
    add({ kind: "equal", before: [before[oldAt]!], after: [after[at]!] })
    old = oldAt + 1
    now = at + 1
  }
  addUpTo(before.length, after.length)
  return rows
}

/** How many messages are equal in both, different, or in one alone. */
export const countsOf = (rows: ReadonlyArray<Compared<Said>>): Readonly<Record<Compared<Said>["kind"], number>> => {
  const counts = { equal: 0, different: 0, "only-before": 0, "only-after": 0 }
  for (const row of rows) counts[row.kind] += row.kind === "equal" ? row.before.length : 1
  return counts
}
