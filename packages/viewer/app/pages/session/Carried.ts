/**
 * How often each message was sent, and by which call last. A conversation is a path in a tree: a call continues its parent's path, so that a session of
 * n messages is n steps, however long its history was each time.
 */
import type { Call } from "../../server/Types.ts"

interface Node {
  readonly message: number
  readonly parent: Node | undefined
  readonly depth: number
  readonly children: Map<number, Node>
  /** Calls whose input ends here. */
  inputs: number
  /** The last of them (from 1); 0 if there is none. */
  last: number
}

/** How a message was carried. */
export interface Carried {
  /** Calls that sent it. */
  readonly times: number
  /** The number of the last of them, from 1; 0 if none did. */
  readonly last: number
}

const make = (message: number, parent: Node | undefined): Node => ({
  message,
  parent,
  depth: parent === undefined ? 0 : parent.depth + 1,
  children: new Map(),
  inputs: 0,
  last: 0
})

const step = (from: Node, message: number): Node => {
  const known = from.children.get(message)
  if (known !== undefined) return known
  const node = make(message, from)
  from.children.set(message, node)
  return node
}

const ancestor = (node: Node, depth: number): Node => {
  let at = node
  while (at.depth > depth && at.parent !== undefined) at = at.parent
  return at
}

/** By the number of a message. */
export const carriedOf = (calls: ReadonlyArray<Call>): ReadonlyMap<number, Carried> => {
  const root = make(0, undefined)
  const nodes: Array<Node> = []
  const ends = new Map<string, Node>()
  const walk = (from: Node, message: number): Node => {
    const isKnown = from.children.has(message)
    const node = step(from, message)
    if (!isKnown) nodes.push(node)
    return node
  }
  for (const [index, { carried, event_id, output, parent_event_id }] of calls.entries()) {
    const parent = parent_event_id === null ? undefined : ends.get(parent_event_id)
    let at = parent === undefined ? root : ancestor(parent, carried.kept)
    for (const [first, last] of carried.runs)
      for (let message = first; message <= last; message++) at = walk(at, message)
    at.inputs++
    at.last = index + 1
    for (const message of output) at = walk(at, message)
    ends.set(event_id, at)
  }
  const found = new Map<number, Carried>()
  const passed = new Map<Node, Carried>()
  // Children follow their parents in the list.
  for (const node of nodes.toReversed()) {
    const through = sum({ times: node.inputs, last: node.last }, passed.get(node))
    found.set(node.message, sum(through, found.get(node.message)))
    if (node.parent !== undefined) passed.set(node.parent, sum(through, passed.get(node.parent)))
  }
  return found
}

const sum = (one: Carried, other: Carried | undefined): Carried =>
  other === undefined ? one : { times: one.times + other.times, last: Math.max(one.last, other.last) }
