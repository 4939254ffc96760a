/**
 * Finds the call that another one continues: of the earlier ones, the one with the longest common beginning; of several, the one
 * that has most of the messages after it, else the one that ends there. Without a common beginning, the one that has most of the
 * messages, which is what a compaction leaves.
 */
import type { OutlinedCall } from "./Call.ts"
import type { Identities, IdentityNumber } from "./Identities.ts"
import { type MessageTree, type Node, root } from "./MessageTree.ts"

export interface ParentQuery {
  readonly occurredAtMs: number | undefined
  /** The last message of the conversation that the tree has. The root if there is none. */
  readonly common: Node
  /** What the messages after it say. */
  readonly rest: ReadonlyArray<IdentityNumber>
}

/** Bounds of a search. */
const maxRest = 2_000
const maxGap = 64
const maxAncestors = 1_000
const maxCandidates = 8

export class ParentSearch {
  readonly #tree: MessageTree
  readonly #calls: ReadonlyArray<OutlinedCall>
  readonly #identities: Identities
  /** The calls whose inputs, or whose output, end at a node. */
  readonly #asked = new Map<Node, Array<number>>()
  readonly #answered = new Map<Node, Array<number>>()

  constructor(tree: MessageTree, calls: ReadonlyArray<OutlinedCall>, identities: Identities) {
    this.#tree = tree
    this.#calls = calls
    this.#identities = identities
  }

  add(index: number, { end, isChoices, output }: OutlinedCall): void {
    if (end !== root) push(this.#asked, end, index)
    for (const node of isChoices ? output : output.slice(-1)) push(this.#answered, node, index)
  }

  find(query: ParentQuery): number | undefined {
    const { common, occurredAtMs, rest } = query
    if (common === root) return rest.length < 2 ? undefined : this.#sharing(query)
    const sharing = rest.length > 0 && this.#tree.hasChildren(common) ? this.#sharing(query) : undefined
    if (sharing !== undefined) return sharing
    // A client may record a call after those that continue it.
    const isEarlier = (index: number) => {
      const time = this.#calls[index]!.occurredAtMs
      return time === undefined || occurredAtMs === undefined || time <= occurredAtMs
    }
    let node = common
    for (let left = maxAncestors; left > 0 && this.#tree.depth(node) > 0; left--) {
      for (const index of this.#through(node, rest.length === 0)) if (isEarlier(index)) return index
      if (this.#tree.depth(node) === 1) break
      node = this.#tree.parent(node)
    }
    for (const index of this.#through(common, rest.length === 0)) return index
    return undefined
  }

  /** Calls whose conversation has a node: first those that end there, the latest first. */
  *#through(node: Node, isWhole: boolean): Generator<number> {
    const asked = this.#asked.get(node)?.toReversed() ?? []
    const answered = this.#answered.get(node)?.toReversed() ?? []
    yield* isWhole ? asked : answered
    yield* isWhole ? answered : asked
    for (const child of this.#tree.children(node)) yield this.#tree.creator(child)
    yield this.#tree.creator(node)
  }

  /** The latest call of those that have most of the messages of `rest` behind `common`. */
  #sharing({ common, occurredAtMs, rest }: ParentQuery): number | undefined {
    const tree = this.#tree
    const matched = new Set<Node>()
    for (const identity of new Set(rest.slice(-maxRest))) {
      if (this.#identities.isInstruction(identity)) continue
      for (const node of tree.equal(identity)) if (tree.depth(node) > tree.depth(common)) matched.add(node)
    }
    if (matched.size === 0) return undefined
    const scores = new Map<Node, number>()
    // A parent has a lower number than its child.
    for (const node of Array.from(matched).sort((a, b) => a - b)) {
      let above = node
      for (let left = maxGap; left > 0 && tree.depth(above) > 1; left--) {
        above = tree.parent(above)
        if (scores.has(above)) break
      }
      scores.set(node, 1 + (above === node ? 0 : (scores.get(above) ?? 0)))
    }
    const ordered = Array.from(scores).sort(([a, scoreA], [b, scoreB]) => scoreB - scoreA || b - a)
    for (const [node] of ordered.slice(0, maxCandidates)) {
      if (common !== root && tree.ancestor(node, tree.depth(common)) !== common) continue
      const leaf = tree.leafBelow(node)
      const index = this.#through(leaf, false).next().value ?? tree.creator(leaf)
      const time = this.#calls[index]!.occurredAtMs
      if (time === undefined || occurredAtMs === undefined || time <= occurredAtMs) return index
    }
    return undefined
  }
}

const push = (lists: Map<Node, Array<number>>, node: Node, index: number): void => {
  const list = lists.get(node)
  if (list === undefined) lists.set(node, [index])
  else list.push(index)
}
