/**
 * Goes through the packs of a session from the oldest to the newest, opens every chain, and adds up what the counters of the
 * session count. Reads pages of bounded size, and opens one chain at a time.
 */
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import { ByteReader } from "../payload/format/Bytes.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as Pack from "../payload/format/Pack.ts"
import * as PackContent from "../payload/format/PackContent.ts"
import * as Template from "../payload/format/Template.ts"
import { keyOf } from "../payload/Join.ts"
import * as OpenChain from "../read/OpenChain.ts"
import type { ListedPack, PackPage } from "../storage/Inventory.ts"
import { belowAll, type ProjectVerification } from "./Verification.ts"

/** Stored bytes of one page. */
const pageBytes = 2 * 1024 * 1024

export interface DamagedPack {
  readonly number: number
  readonly reason: string
}

/** A pack, and the numbers of pieces up to it. */
interface Last extends PackContent.Counts {
  readonly number: number
}

export class SessionPacks {
  readonly #run: ProjectVerification
  readonly #session: number
  /** Pages start above this pack. */
  #above = belowAll
  /** The highest pack that was counted. */
  #counted = belowAll
  #firstState: PackPage["state"] | "unread" = "unread"
  /** The last pack that was counted. Undefined if it could not be opened. */
  last: Last | undefined = { number: 0, history: 0, parts: 0 }
  /** False if packs were rewritten between two pages: then the sums are of no state of the session. */
  isStable = true
  packs = 0
  /** Bytes of contents, by the number of the agent. */
  readonly newBytes = new Map<number, number>()
  /** Pieces in packs, blank ones included, and those that are not blank. */
  pieces = 0
  remaining = 0
  /** Names of the shared pieces that packs refer to, by `keyOf`. */
  readonly shared = new Map<string, Buffer>()
  readonly damaged: Array<DamagedPack> = []
  /** Packs with texts of an event that was erased, although the session is swept. */
  readonly withErasedTexts: Array<number> = []

  constructor(run: ProjectVerification, session: number) {
    this.#run = run
    this.#session = session
  }

  get lastNumber(): number {
    return this.#counted
  }

  /** The generation of the session when the first page was read. */
  get generation(): number | undefined {
    return this.#firstState === "unread" ? undefined : this.#firstState?.generation
  }

  /** Counts the packs up to a number that were not counted yet, or all of them. */
  readonly read = Effect.fnUntraced(function* (this: SessionPacks, to = Number.POSITIVE_INFINITY) {
    const page = Effect.flatMap(
      Effect.suspend(() => this.#run.storage.listPacks(this.#run.project, this.#session, this.#above, pageBytes)),
      (page) => this.#readPage(page, to)
    )
    while (!(yield* this.#run.throttle(page)));
  })

  /** Returns whether it was the last page. */
  readonly #readPage = Effect.fnUntraced(function* (this: SessionPacks, page: PackPage, to: number) {
    const { packs: found, state } = page
    if (this.#firstState === "unread") this.#firstState = state
    else if (state?.generation !== this.generation) this.isStable = false
    const packs = found.filter(({ number }) => number <= to)
    const isLast = page.isLast || packs.length < found.length || packs.at(-1)?.number === to
    const byNumber = new Map(packs.map((pack) => [pack.number, pack]))
    const isSwept = state !== undefined && state.pendingSweep <= 0

    const all = Pack.chainsOf(packs)
    const start = all[0]?.[0]?.number ?? Number.POSITIVE_INFINITY
    const headless = packs.filter(({ number }) => number < start)
    // The last chain may go on in the next page, which begins with it again, unless that would be this page again.
    const isCut = !isLast && all.length > 0 && all.length + headless.length > 1
    yield* this.#suspect(headless, new Damage("The start of its chain is missing"))
    for (const chain of isCut ? all.slice(0, -1) : all) {
      const open = OpenChain.openOrDamage(chain)
      for (const [index, { content, number }] of open.packs.entries()) {
        this.#count(byNumber.get(number)!, content, open.contents[index]!, isSwept)
      }
      yield* this.#suspect(chain.slice(open.packs.length), open.damage)
      this.#counted = Math.max(this.#counted, chain.at(-1)!.number)
      this.#run.source.add(chain, open)
      yield* Effect.yieldNow
    }
    const last = isCut ? all.at(-2)?.at(-1) : packs.at(-1)
    this.#above = (last ?? headless.at(-1))?.number ?? this.#above
    // Packs that are appended later may continue the last chain.
    if (isLast && all.length > 0) this.#above = all.at(-1)![0]!.number - 1
    return isLast
  })

  #count(
    { agent, isKept, number }: ListedPack,
    content: Buffer,
    { added, before, history, inputs, output, parts }: PackContent.Contents,
    isSwept: boolean
  ): void {
    if (number <= this.#counted) return
    this.packs++
    this.newBytes.set(agent, (this.newBytes.get(agent) ?? 0) + content.length)
    this.pieces += history.length + parts.length
    for (const span of [inputs, output, ...history, ...parts]) {
      Template.read(new ByteReader(span.content, span.start), this.#visitor)
    }
    this.remaining += PackContent.piecesIn({ history, parts })
    const hasTexts = !PackContent.isEmpty(inputs) || !PackContent.isEmpty(output)
    if (isSwept && !isKept && hasTexts) this.withErasedTexts.push(number)
    this.#checkNumbers(number, before)
    this.last = { number, history: before.history + added.history, parts: before.parts + added.parts }
  }

  readonly #visitor: Template.TemplateVisitor = {
    part: () => {},
    history: () => {},
    shared: (sha256) => {
      const key = keyOf(sha256)
      if (!this.shared.has(key)) this.shared.set(key, Buffer.from(sha256))
    }
  }

  /** Pieces are numbered on from those of the packs before, some of which may be deleted. */
  #checkNumbers(number: number, before: PackContent.Counts): void {
    if (this.last === undefined) return
    const history = before.history - this.last.history
    const parts = before.parts - this.last.parts
    const isNext = this.last.number === number - 1
    if (isNext ? history === 0 && parts === 0 : history >= 0 && parts >= 0) return
    this.damaged.push({ number, reason: `Its pieces do not follow those of pack ${this.last.number}` })
  }

  /**
   * Packs of one chain that cannot be opened, perhaps because they were rewritten between two pages. Looks at them again in
   * one snapshot of all packs that their chain can consist of.
   */
  readonly #suspect = Effect.fnUntraced(function* (
    this: SessionPacks,
    packs: ReadonlyArray<Pack.StoredPack>,
    damage: Damage | undefined
  ): Effect.fn.Return<void, StorageUnavailable> {
    const numbers = packs.map(({ number }) => number).filter((number) => number > this.#counted)
    const [first] = numbers
    if (first === undefined) return
    const range = { from: first - Pack.maxChainPacks + 1, to: numbers.at(-1)! }
    const read = yield* this.#run.storage.readPacks(this.#run.project, this.#session, [range])
    const unopened = new Set(read.map(({ number }) => number))
    for (const chain of Pack.chainsOf(read))
      for (const { number } of OpenChain.openOrDamage(chain).packs) unopened.delete(number)
    for (const number of numbers) {
      if (!unopened.has(number)) {
        this.isStable = false
        continue
      }
      this.packs++
      this.last = undefined
      const reason = number === first ? damage?.message : undefined
      this.damaged.push({ number, reason: reason ?? `Pack ${first}, before it in its chain, is damaged` })
    }
    this.#counted = numbers.at(-1)!
  })
}
