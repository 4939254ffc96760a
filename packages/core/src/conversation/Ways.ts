/** Follows the elements of a conversation along the tree. A run of pieces that was followed before is passed in one step. */
import type { ElementCursor } from "./Elements.ts"
import type { IdentityNumber } from "./Identities.ts"
import { type MessageTree, type Node, root } from "./MessageTree.ts"

/** Asks for what the messages of a piece say. */
export type Asking<A> = Generator<number, A, ReadonlyArray<IdentityNumber>>

/** Numbers of pieces are less than this, so that a node and a piece are one exact number. */
const maxPieces = 2 ** 26

/** Where consecutive pieces lead from a node: the node after each. */
interface Jump {
  readonly nodes: Array<Node>
  nextPiece: number
}

export class Ways {
  readonly #tree: MessageTree
  readonly #pieces = new Map<number, ReadonlyArray<IdentityNumber>>()
  readonly #jumps = new Map<number, Jump>()
  /** The jump that was followed to its end. */
  #open: Jump | undefined

  constructor(tree: MessageTree) {
    this.#tree = tree
  }

  /** What the messages of the current element say. */
  *identitiesOf(cursor: ElementCursor): Asking<ReadonlyArray<IdentityNumber>> {
    const { current } = cursor
    if (!("count" in current)) return current.identities
    let known = this.#pieces.get(current.first)
    if (known === undefined) this.#pieces.set(current.first, (known = yield current.first))
    return known
  }

  /**
   * Passes the elements that the tree has: after `node`, or after these instructions if that is the root. Returns the node of the
   * last message.
   */
  *follow(instructions: Node, node: Node, cursor: ElementCursor): Asking<Node> {
    let at = node
    this.#open = undefined
    while (!cursor.isAtEnd) {
      const { current } = cursor
      const jump = at !== root && "count" in current ? this.#jumps.get(at * maxPieces + current.first) : undefined
      if (jump !== undefined && "count" in current) {
        const passed = Math.min(jump.nodes.length, current.count)
        at = jump.nodes[passed - 1]!
        cursor.pass(passed)
        this.#open = passed === jump.nodes.length ? jump : undefined
        continue
      }
      const next = this.#after(at === root ? instructions : at, yield* this.identitiesOf(cursor))
      if (next === undefined) return at
      this.learn(at, cursor, next)
      at = next
      cursor.pass()
    }
    return at
  }

  /** Says that the current element leads from one node to another. */
  learn(from: Node, { current }: ElementCursor, to: Node): void {
    if (from === root || !("count" in current) || from === to) {
      this.#open = undefined
      return
    }
    const { first } = current
    if (this.#open?.nextPiece === first && this.#open.nodes.at(-1) === from) {
      this.#open.nodes.push(to)
      this.#open.nextPiece++
      return
    }
    const key = from * maxPieces + first
    if (this.#jumps.has(key)) return
    this.#open = { nodes: [to], nextPiece: first + 1 }
    this.#jumps.set(key, this.#open)
  }

  #after(node: Node, identities: ReadonlyArray<IdentityNumber>): Node | undefined {
    let at: Node | undefined = node
    for (const identity of identities) {
      if (at !== undefined) at = this.#tree.next(at, identity)
    }
    return at
  }
}
