/**
 * The conversations of a session as a tree: a node is a message after the messages on the way to it, and each conversation is such a
 * way. Instructions at the beginning stand on their own way from the root: conversations that differ only in these go on at the
 * same node, if the caller says so by `join`.
 */
import type { IdentityNumber } from "./Identities.ts"

export type Node = number

export const root: Node = 0

/** Nodes and identities are less than this, so that two of them are one exact number. */
const maxNodes = 2 ** 26

const keyOf = (node: Node, identity: IdentityNumber): number => node * maxNodes + identity

/** Nodes that say the same are remembered up to this many, the latest ones. */
const maxEqual = 64

const none: ReadonlyArray<Node> = []

interface NewNode {
  readonly identity: IdentityNumber
  /** The number of the message that it is. */
  readonly message: number
  /** The call that sent or answered it. */
  readonly creator: number
  /** Whether its depth is 1, because a way begins there. */
  readonly isFirst: boolean
}

export class MessageTree {
  readonly #parents: Array<Node> = [root]
  readonly #identities: Array<IdentityNumber> = [-1]
  readonly #messages: Array<number> = [0]
  readonly #depths: Array<number> = [0]
  readonly #creators: Array<number> = [-1]
  readonly #lastChildren: Array<Node> = [root]
  readonly #previousSiblings: Array<Node> = [root]
  readonly #edges = new Map<number, Node>()
  /** By identity. */
  readonly #equal: Array<Array<Node> | undefined> = []

  get size(): number {
    return this.#parents.length
  }

  next(node: Node, identity: IdentityNumber): Node | undefined {
    return this.#edges.get(keyOf(node, identity))
  }

  /** Adds a node after another one. */
  add(node: Node, { creator, identity, isFirst, message }: NewNode): Node {
    const added = this.#parents.length
    this.#parents.push(node)
    this.#identities.push(identity)
    this.#messages.push(message)
    this.#depths.push(isFirst ? 1 : this.#depths[node]! + 1)
    this.#creators.push(creator)
    this.#lastChildren.push(root)
    this.#previousSiblings.push(this.#lastChildren[node]!)
    this.#lastChildren[node] = added
    this.#edges.set(keyOf(node, identity), added)
    const equal = (this.#equal[identity] ??= [])
    if (equal.length === maxEqual) equal.shift()
    equal.push(added)
    return added
  }

  /** Lets a way that comes from `node` go on at another one, which says `identity`. */
  join(node: Node, identity: IdentityNumber, to: Node): void {
    this.#edges.set(keyOf(node, identity), to)
  }

  parent(node: Node): Node {
    return this.#parents[node]!
  }

  identity(node: Node): IdentityNumber {
    return this.#identities[node]!
  }

  message(node: Node): number {
    return this.#messages[node]!
  }

  /** The number of nodes on the way to it, itself included. 0 for the root. */
  depth(node: Node): number {
    return this.#depths[node]!
  }

  /** The call that sent or answered it first at this place. */
  creator(node: Node): number {
    return this.#creators[node]!
  }

  hasChildren(node: Node): boolean {
    return this.#lastChildren[node] !== root
  }

  /** The latest first. */
  *children(node: Node): Generator<Node> {
    for (let child = this.#lastChildren[node]!; child !== root; child = this.#previousSiblings[child]!) yield child
  }

  /** Where the way ends that goes on with the latest node each time. */
  leafBelow(node: Node): Node {
    let leaf = node
    while (this.hasChildren(leaf)) leaf = this.#lastChildren[leaf]!
    return leaf
  }

  /** The latest nodes that say this. */
  equal(identity: IdentityNumber): ReadonlyArray<Node> {
    return this.#equal[identity] ?? none
  }

  /** The nodes on the way to `node` that are deeper than `depth`, in order. */
  way(node: Node, depth = 0): ReadonlyArray<Node> {
    const nodes: Array<Node> = []
    for (let at = node, left = this.depth(node) - depth; left > 0; left--, at = this.parent(at)) nodes.push(at)
    return nodes.reverse()
  }

  /** The node of this depth on the way to `node`, which is as deep or deeper. */
  ancestor(node: Node, depth: number): Node {
    let at = node
    for (let left = this.depth(node) - depth; left > 0; left--) at = this.parent(at)
    return at
  }

  /** How many nodes the ways to both have in common. */
  commonDepth(one: Node, other: Node): number {
    const depth = Math.min(this.depth(one), this.depth(other))
    let a = this.ancestor(one, depth)
    let b = this.ancestor(other, depth)
    for (let left = depth; left > 0; left--) {
      if (a === b) return left
      a = this.parent(a)
      b = this.parent(b)
    }
    return 0
  }
}
