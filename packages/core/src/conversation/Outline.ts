/**
 * The messages of a session and how its calls carried them, without the texts. Calls are added in the order of their packs, which is
 * the order in which they were recorded, and nothing that was said of a call or a message changes afterwards.
 *
 * A message is an element of a conversation at its place: `MessageTree` has a node for each place. A call goes along the tree as far as
 * its messages are known there. What comes after them is compared with what its parent went on with, so that messages behind an
 * edit, or those that a compaction kept, stay the messages that they were.
 */
import type { Api } from "@tachograph/formats"
import { align } from "@tachograph/formats/normal/Alignment"
import type { MessageSource, NewCall, OutlinedCall, OutlinedMessage } from "./Call.ts"
import { ElementCursor } from "./Elements.ts"
import type { Identities, IdentityNumber } from "./Identities.ts"
import { MessageTree, type Node, root } from "./MessageTree.ts"
import { type ParentQuery, ParentSearch } from "./ParentSearch.ts"
import { type Asking, Ways } from "./Ways.ts"

/** A message that the tree does not have at its place. */
interface Unknown {
  readonly identity: IdentityNumber
  readonly source: MessageSource
  /** Whether it is the last message of its element. */
  readonly isLast: boolean
}

/** What a call has in common with those before it, and what comes after that. */
interface Start {
  /** The last of the instructions at the beginning that the tree has, and those after it. */
  readonly instructions: Node
  readonly newInstructions: ReadonlyArray<Unknown>
  /** The last message that the tree has, and those after it. */
  readonly common: Node
  readonly rest: ReadonlyArray<Unknown>
  /** At the first of those. */
  readonly cursor: ElementCursor
}

/** Where a call leaves the conversation of its parent. */
interface Departure {
  /** How many messages after the instructions both have in common, and how many of them stand first in the parent's conversation. */
  readonly common: number
  readonly first: number
  /** What the parent went on with. Without choices that were not taken. */
  readonly messages: ReadonlyArray<Node>
}

const noDeparture: Departure = { common: 0, first: 0, messages: [] }

/** Where the conversation of a call ends. With choices, where that of the first one does. */
const endOf = ({ end, isChoices, output }: OutlinedCall): Node => (isChoices ? output[0] : output.at(-1)) ?? end

/** The same for calls that asked the same: with the same messages, of the same model, with the same settings. */
const requestOf = (
  { api, continues, model, settings }: NewCall,
  { end, instructions }: Pick<OutlinedCall, "end" | "instructions">
): string => JSON.stringify([api, model, ...Object.values(settings), instructions, end, ...continues])

export class Outline {
  readonly tree = new MessageTree()
  readonly messages: Array<OutlinedMessage> = []
  readonly calls: Array<OutlinedCall> = []
  readonly #identities: Identities
  /** By the format of the calls: the same piece may say another thing in another one. */
  readonly #waysByApi = new Map<Api, Ways>()
  #ways: Ways
  readonly #parents: ParentSearch
  /** By the names under which calls can be continued. */
  readonly #named = new Map<string, number>()
  /** The last call of each request. */
  readonly #requests = new Map<string, number>()

  constructor(identities: Identities) {
    this.#identities = identities
    this.#ways = new Ways(this.tree)
    this.#parents = new ParentSearch(this.tree, this.calls, identities)
  }

  /** The numbers of the messages that a call carried after the first ones of its parent's conversation. */
  carriedAfter({ end, instructions, keptFirst }: OutlinedCall): ReadonlyArray<number> {
    const { tree } = this
    const before = tree.depth(instructions)
    const nodes =
      keptFirst >= before ? tree.way(end, keptFirst - before) : [...tree.way(instructions, keptFirst), ...tree.way(end)]
    return this.#numbersOf(nodes)
  }

  /** The numbers of the messages at the beginning of a call that are instructions. */
  instructionsOf({ instructions }: OutlinedCall): ReadonlyArray<number> {
    return this.#numbersOf(this.tree.way(instructions))
  }

  outputOf({ output }: OutlinedCall): ReadonlyArray<number> {
    return this.#numbersOf(output)
  }

  /** Adds a call. Yields the pieces of which it must be known what their messages say. */
  *add(call: NewCall): Asking<OutlinedCall> {
    this.#ways = this.#waysOf(call.api)
    const named = call.continues.map((name) => this.#named.get(name)).find((index) => index !== undefined)
    const start = yield* this.#start(
      new ElementCursor(call.elements),
      named === undefined ? undefined : this.calls[named]
    )
    const parent = named ?? this.#parents.find(this.#queryOf(call, start))
    const added = this.#place(call, start, parent)
    const index = this.calls.push(added) - 1
    this.#parents.add(index, added)
    this.#requests.set(requestOf(call, added), index)
    for (const name of call.names) this.#named.set(name, index)
    return added
  }

  /** What a client puts before the words of the user may be the beginning of another conversation, such as that of a sub-agent. */
  #queryOf({ occurredAtMs }: NewCall, { common, rest }: Start): ParentQuery {
    const isBegun = rest.length === 0 || !this.#isContext(common)
    return { occurredAtMs, common: isBegun ? common : root, rest: rest.map(({ identity }) => identity) }
  }

  /** Whether all messages on the way to it are a client's. */
  #isContext(node: Node): boolean {
    const { tree } = this
    let at = node
    let left = tree.depth(node)
    for (; left > 0 && this.#identities.isContext(tree.identity(at)); left--) at = tree.parent(at)
    return left === 0
  }

  *#start(cursor: ElementCursor, continued: OutlinedCall | undefined): Asking<Start> {
    if (continued !== undefined) {
      const { instructions } = continued
      const common = yield* this.#ways.follow(instructions, endOf(continued), cursor)
      return { instructions, newInstructions: [], common, cursor: cursor.copy(), rest: yield* this.#restOf(cursor) }
    }
    let instructions = root
    const newInstructions: Array<Unknown> = []
    for (; !cursor.isAtEnd; cursor.pass()) {
      const all = yield* this.#current(cursor)
      if (!all.every(({ identity }) => this.#identities.isInstruction(identity))) break
      for (const each of all) {
        const next = newInstructions.length === 0 ? this.tree.next(instructions, each.identity) : undefined
        if (next === undefined) newInstructions.push(each)
        else instructions = next
      }
    }
    let common = root
    if (newInstructions.length === 0) common = yield* this.#ways.follow(instructions, root, cursor)
    if (common === root && !cursor.isAtEnd) common = yield* this.#joinable(cursor)
    return { instructions, newInstructions, common, cursor: cursor.copy(), rest: yield* this.#restOf(cursor) }
  }

  /** The way of calls with other instructions, as far as it has what comes next. Passes that. */
  *#joinable(cursor: ElementCursor): Asking<Node> {
    const [first, ...others] = yield* this.#current(cursor)
    if (first === undefined || others.length > 0 || this.#identities.isInstruction(first.identity)) return root
    let end = root
    let passed = cursor
    for (const top of this.tree.equal(first.identity)) {
      if (this.tree.depth(top) !== 1) continue
      const tried = cursor.copy()
      tried.pass()
      const reached = yield* this.#ways.follow(root, top, tried)
      // A message of a user alone may be the beginning of many conversations.
      if (this.tree.depth(reached) === 1 && this.#identities.isOfUser(first.identity)) continue
      if (this.tree.depth(reached) < this.tree.depth(end)) continue
      end = reached
      passed = tried
    }
    cursor.moveTo(passed)
    return end
  }

  /** The messages of the current element. */
  *#current(cursor: ElementCursor): Asking<ReadonlyArray<Unknown>> {
    const { current, index } = cursor
    const identities = yield* this.#ways.identitiesOf(cursor)
    return identities.map((identity, at) => ({
      identity,
      source: "count" in current ? { piece: current.first, at } : { element: index, at },
      isLast: at === identities.length - 1
    }))
  }

  *#restOf(cursor: ElementCursor): Asking<ReadonlyArray<Unknown>> {
    const rest: Array<Unknown> = []
    for (; !cursor.isAtEnd; cursor.pass()) rest.push(...(yield* this.#current(cursor)))
    return rest
  }

  #place(call: NewCall, start: Start, parent: number | undefined): OutlinedCall {
    const { tree } = this
    const { isChoices, occurredAtMs, settings } = call
    const continued = parent === undefined ? undefined : this.calls[parent]!
    const departure = continued === undefined ? noDeparture : this.#departure(start, continued)
    const theirs = tree.way(continued?.instructions ?? root)
    const instructions = this.#addInstructions(start, theirs)
    const end = this.#addMessages(start, departure, instructions)
    const output = this.#addOutput(call, instructions, end)

    const carried = this.#numbersOf([...tree.way(instructions), ...tree.way(end, departure.common)])
    const left = new Set(this.#numbersOf(departure.messages))
    const before = new Set([...this.#numbersOf(theirs), ...left])
    const still = new Set([...carried, ...this.#numbersOf(output)])
    const added = carried.filter((number) => !before.has(number))
    const first = continued === undefined ? 0 : tree.commonDepth(continued.instructions, instructions)
    // A call that is made again has the history of the first time.
    const isRepeated = continued?.instructions === instructions && continued.end === end
    return {
      occurredAtMs,
      isChoices,
      settings,
      instructions,
      end,
      output,
      parent,
      // Of two without messages, nothing says that they asked the same.
      repeated:
        instructions === root && end === root ? undefined : this.#requests.get(requestOf(call, { instructions, end })),
      keptFirst: continued?.instructions === instructions ? first + departure.first : first,
      kept: departure.common + carried.length - added.length,
      added,
      gone: isRepeated ? [] : Array.from(left).filter((number) => !still.has(number))
    }
  }

  #departure({ common }: Start, continued: OutlinedCall): Departure {
    const { tree } = this
    const { end, isChoices, output } = continued
    if (!isChoices) {
      const first = tree.commonDepth(common, endOf(continued))
      return { common: first, first, messages: tree.way(endOf(continued), first) }
    }
    const chosen = output.findIndex((node) => tree.commonDepth(common, node) > tree.depth(end))
    const first = tree.commonDepth(common, end)
    if (chosen !== -1) return { common: first + 1, first: chosen === 0 ? first + 1 : first, messages: [] }
    return { common: first, first, messages: [...tree.way(end, first), ...output] }
  }

  #addInstructions({ common, instructions, newInstructions }: Start, theirs: ReadonlyArray<Node>): Node {
    const { tree } = this
    const last = this.#addAll(instructions, newInstructions, theirs)
    if (common === root) return last
    // The conversation goes on where it did with other instructions.
    const top = tree.ancestor(common, 1)
    if (tree.next(last, tree.identity(top)) === undefined) tree.join(last, tree.identity(top), top)
    return last
  }

  #addMessages({ common, cursor, rest }: Start, { messages }: Departure, instructions: Node): Node {
    if (rest.length === 0) return common
    return this.#addAll(common === root ? instructions : common, rest, messages, { cursor, isFirst: common === root })
  }

  /** Adds nodes one after the other. Those that are in `departed` too, in the same order, are the same messages. */
  #addAll(
    from: Node,
    added: ReadonlyArray<Unknown>,
    departed: ReadonlyArray<Node>,
    { cursor, isFirst }: { readonly cursor?: ElementCursor; readonly isFirst?: boolean } = {}
  ): Node {
    const { tree } = this
    const same = align(
      departed.map((node) => tree.identity(node)),
      added.map(({ identity }) => identity)
    )
    let at = from
    let before = isFirst === true ? root : from
    for (const [index, { identity, isLast, source }] of added.entries()) {
      const known = departed[same[index]!]
      at =
        tree.next(at, identity) ??
        tree.add(at, {
          identity,
          message: known === undefined ? this.#newMessage(source) : tree.message(known),
          creator: this.calls.length,
          isFirst: isFirst === true && index === 0
        })
      if (cursor === undefined || !isLast) continue
      this.#ways.learn(before, cursor, at)
      cursor.pass()
      before = at
    }
    return at
  }

  #addOutput({ isChoices, output }: NewCall, instructions: Node, end: Node): ReadonlyArray<Node> {
    const { tree } = this
    const nodes: Array<Node> = []
    let from = end === root ? instructions : end
    for (const [answer, identity] of output.entries()) {
      const isFirst = end === root && (isChoices || answer === 0)
      const node =
        tree.next(from, identity) ??
        tree.add(from, { identity, message: this.#newMessage({ answer }), creator: this.calls.length, isFirst })
      if (!nodes.includes(node)) nodes.push(node)
      if (!isChoices) from = node
    }
    return nodes
  }

  #waysOf(api: Api): Ways {
    const ways = this.#waysByApi.get(api) ?? new Ways(this.tree)
    this.#waysByApi.set(api, ways)
    return ways
  }

  #newMessage(source: MessageSource): number {
    return this.messages.push({ call: this.calls.length, source })
  }

  #numbersOf(nodes: ReadonlyArray<Node>): ReadonlyArray<number> {
    return nodes.map((node) => this.tree.message(node))
  }
}
