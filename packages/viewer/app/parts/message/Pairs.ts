/**
 * Which answer belongs to which call of a tool. An answer has the id of its call, and ids may come again: it belongs to the latest call
 * before it that waits. Where a call came without an id, answers follow in the order of the calls of the same name.
 */
import type { Part } from "../../server/Types.ts"

export interface Holder {
  readonly role: string
  readonly parts: ReadonlyArray<Part>
}

/** What a tool answered, and the message that holds it. */
export interface Result<M extends Holder = Holder> {
  readonly message: M
  readonly part: Part
}

const keyOf = (part: Part, field: string, kind = "id"): ReadonlyArray<string> =>
  typeof part[field] === "string" ? [`${kind} ${part[field]}`] : []

/**
 * What a call is found by. A client may make an id up for a call that came without one: then answers have it, but the call only once it
 * is sent back.
 */
const keysOf = (part: Part): ReadonlyArray<string> => {
  const id = keyOf(part, "id")
  if (part.type === "tool_call" && id.length > 0) return id
  return [...id, ...keyOf(part, "client_call_id"), ...keyOf(part, "name", "name")]
}

/** Calls of one turn that have the same key, in their order. */
interface Waiting {
  readonly turn: number
  readonly calls: Array<Part>
}

/** The place in a conversation up to which calls and answers were paired. */
export interface Place {
  readonly waiting: Map<string, Waiting>
  /** A call that comes again in a later turn takes the place of the one that was not answered. */
  turn: number
  isAsking: boolean
}

const start = (): Place => ({ waiting: new Map(), turn: 0, isAsking: false })

const copyOf = ({ isAsking, turn, waiting }: Place): Place => ({
  waiting: new Map(Array.from(waiting, ([key, { calls, turn }]) => [key, { turn, calls: [...calls] }])),
  turn,
  isAsking
})

export class Pairs<M extends Holder = Holder> {
  /** By the part that calls a tool. */
  readonly results = new Map<Part, Result<M>>()
  /** The parts that answer one. */
  readonly answers = new Set<Part>()

  /** Goes on from a place. A message may be passed on several ways. */
  pass(place: Place, message: M): void {
    const isAsking = message.role === "assistant"
    if (isAsking && !place.isAsking) place.turn++
    place.isAsking = isAsking
    for (const part of message.parts) {
      if (part.type === "tool_call") this.#wait(place, part)
      else if (part.type === "tool_call_response") this.#answer(place, message, part)
    }
  }

  #wait({ turn, waiting }: Place, call: Part): void {
    for (const key of keysOf(call)) {
      const known = waiting.get(key)
      if (known?.turn === turn) known.calls.push(call)
      else waiting.set(key, { turn, calls: [call] })
    }
  }

  #answer({ waiting }: Place, message: M, part: Part): void {
    if (this.answers.has(part)) return
    for (const key of keysOf(part)) {
      const calls = waiting.get(key)?.calls ?? []
      while (calls.length > 0 && this.results.has(calls[0]!)) calls.shift()
      const call = calls.shift()
      if (calls.length === 0) waiting.delete(key)
      if (call === undefined) continue
      this.results.set(call, { message, part })
      this.answers.add(part)
      return
    }
  }
}

/** The pairs in the messages of one conversation. */
export const pairsIn = <M extends Holder>(messages: ReadonlyArray<M>): Pairs<M> => {
  const pairs = new Pairs<M>()
  const place = start()
  for (const message of messages) pairs.pass(place, message)
  return pairs
}

/** A call of a session: what it adds to the conversation of its parent. */
interface Step<M> {
  readonly id: string
  readonly parent: string | null
  readonly messages: ReadonlyArray<M>
}

/** The pairs in conversations that continue one another, parents first: two that take turns may use the same ids. */
export const pairsAlong = <M extends Holder>(steps: ReadonlyArray<Step<M>>): Pairs<M> => {
  const pairs = new Pairs<M>()
  const children = new Map<string, number>()
  for (const { parent } of steps) if (parent !== null) children.set(parent, (children.get(parent) ?? 0) + 1)
  const places = new Map<string, Place>()
  const after = (parent: string | null): Place => {
    const place = parent === null ? undefined : places.get(parent)
    if (parent === null || place === undefined) return start()
    const left = children.get(parent)! - 1
    children.set(parent, left)
    if (left > 0) return copyOf(place)
    places.delete(parent)
    return place
  }
  for (const { id, messages, parent } of steps) {
    const place = after(parent)
    for (const message of messages) pairs.pass(place, message)
    if (children.has(id)) places.set(id, place)
  }
  return pairs
}
