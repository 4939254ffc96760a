/**
 * Looks for packs that may hold a text, session by session from newer packs to older ones, without parsing them. Remembers what it
 * has looked at, so that each chain is unpacked once.
 */
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { ProjectId } from "../domain/Project.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as Memory from "../payload/format/Memory.ts"
import * as Pack from "../payload/format/Pack.ts"
import * as Join from "../payload/Join.ts"
import * as References from "../payload/References.ts"
import { orDamage } from "../read/OrDamage.ts"
import type { Storage } from "../Storage.ts"
import type { EventPack, RangedPack, SessionRange } from "../storage/Stored.ts"
import type { Needle } from "./Needle.ts"
import { SharedVerdicts } from "./SharedVerdicts.ts"
import * as StepPieces from "./StepPieces.ts"

/** Larger packs stand alone, and are read one by one (bytes). */
const maxPackBytes = 40 * 1024

/** Sessions whose packs are read together. */
const maxSessions = 16

/** After this many unpacked bytes the event loop turns: those of about one long chain. */
const sliceBytes = 128 * 1024

/** How often packs are read again that are damaged, because an erasure may have rewritten them meanwhile. */
const maxAttempts = 3

/** What was found in packs of a session. */
interface ScannedPacks {
  /** The numbers of the packs that may hold the text. */
  readonly candidates: Set<number>
  /** The packs whose events were erased: others may have what is in them. */
  readonly erased: Set<number>
  /** The packs that were looked at of a session with `isOfErased`, with their parts. */
  readonly parts: Map<number, StepPieces.PackParts>
  readonly damaged: Map<number, Damage>
  /** Those that were looked at and do not have it. */
  readonly others: Set<number>
  readonly shared: Array<SharedIn>
}

/** A shared piece that a pack references. */
interface SharedIn {
  readonly pack: number
  /** `Join.keyOf` its name. */
  readonly key: string
}

/** All packs from `from` to `to` were looked at. */
export interface ScannedSession extends Omit<ScannedPacks, "shared">, StepPieces.StepPieces {
  readonly session: number
  readonly to: number
  from: number
  /** Whether events were ever erased from it, or steps added. */
  isOfErased: boolean
  /** Bytes of contents that were looked at. */
  bytes: number
}

/** The bytes of a pack that the database cannot read. */
const nothing = Buffer.alloc(0)

/** The bytes of packs that follow each other in one memory, or of one pack. */
const spanOf = (packs: ReadonlyArray<Pack.OpenPack>): Buffer | undefined => {
  const first = packs[0]!.content
  let end = first.byteOffset
  for (const { content } of packs) {
    if (content.buffer !== first.buffer || content.byteOffset !== end) return undefined
    end += content.length
  }
  return Buffer.from(first.buffer, first.byteOffset, end - first.byteOffset)
}

export class PackScan {
  readonly #storage: Storage["Service"]
  readonly #project: ProjectId
  readonly #needle: Needle
  readonly #shared: SharedVerdicts
  readonly #sessions = new Map<number, ScannedSession>()
  /** Bytes of packs that were unpacked. */
  #packBytes = 0
  /** Those when the event loop last turned. */
  #bytesAtTurn = 0

  constructor(storage: Storage["Service"], project: ProjectId, needle: Needle) {
    this.#storage = storage
    this.#project = project
    this.#needle = needle
    this.#shared = new SharedVerdicts(storage, project, needle)
  }

  /** Bytes that were unpacked. */
  get bytes(): number {
    return this.#packBytes + this.#shared.bytes
  }

  /** The session of an event, if its pack was looked at. */
  sessionOf({ pack, session }: EventPack): ScannedSession | undefined {
    const scanned = this.#sessions.get(session)
    return scanned !== undefined && scanned.from <= pack && pack <= scanned.to ? scanned : undefined
  }

  /** Whether a shared piece may hold the text. It must be one of a pack that was looked at. */
  isCandidate(name: Uint8Array): boolean {
    return this.#shared.of(Join.keyOf(name)) === "candidate"
  }

  /** Looks at the pack of the event at an index, and at those of some that follow. */
  readonly look = Effect.fnUntraced(function* (this: PackScan, events: ReadonlyArray<EventPack>, from: number) {
    const sessions = new Map<number, { readonly scanned: ScannedSession; readonly to: number }>()
    for (let index = from; index < events.length && sessions.size < maxSessions; index++) {
      const event = events[index]!
      const { pack, session } = event
      if (sessions.has(session) || this.sessionOf(event) !== undefined) continue
      let scanned = this.#sessions.get(session)
      if (scanned === undefined || pack > scanned.to) {
        scanned = startAt(session, pack)
        this.#sessions.set(session, scanned)
      }
      sessions.set(session, { scanned, to: pack })
    }
    let open = [...sessions.values()]
    while (open.length > 0) {
      yield* this.#step(open.map(({ scanned }) => scanned))
      open = open.filter(({ scanned, to }) => scanned.from > to)
    }
  })

  /** Looks at all older packs of a session, unless these have more than `maxBytes`. */
  readonly lookBack = Effect.fnUntraced(function* (this: PackScan, scanned: ScannedSession, maxBytes: number) {
    while (scanned.from > 1 && scanned.bytes < maxBytes) yield* this.#step([scanned])
  })

  /** Looks at the next older packs of each session. */
  readonly #step = Effect.fnUntraced(function* (this: PackScan, sessions: ReadonlyArray<ScannedSession>) {
    const ranges = sessions.map(({ from, session }) => ({
      session,
      from: Math.max(1, from - Pack.maxChainPacks),
      to: from - 1
    }))
    const read = yield* this.#read(ranges)
    const bySession = Map.groupBy(read, ({ session }) => session)
    for (const [index, scanned] of sessions.entries()) {
      yield* this.#lookAt(scanned, ranges[index]!, bySession.get(scanned.session) ?? [])
    }
  })

  /** What the database cannot read has no bytes. */
  readonly #read = Effect.fnUntraced(function* (
    this: PackScan,
    ranges: ReadonlyArray<SessionRange>
  ): Effect.fn.Return<ReadonlyArray<RangedPack>, StorageUnavailable> {
    const read = yield* orDamage(this.#storage.readPackRanges(this.#project, ranges, maxPackBytes))
    if (!(read instanceof Damage)) return read
    const [{ from, session, to }] = ranges as readonly [SessionRange]
    if (ranges.length === 1 && from === to) {
      return [{ session, number: from, bytes: nothing, isKept: true, isOfSteps: false, isOfErased: false }]
    }
    const middle = from + Math.floor((to - from) / 2)
    const halves = [
      { session, from, to: middle },
      { session, from: middle + 1, to }
    ]
    return (yield* Effect.forEach(ranges.length === 1 ? halves : ranges, (range) => this.#read([range]))).flat()
  })

  readonly #lookAt = Effect.fnUntraced(function* (
    this: PackScan,
    scanned: ScannedSession,
    range: SessionRange,
    read: ReadonlyArray<RangedPack>
  ): Effect.fn.Return<void, StorageUnavailable> {
    let packs = read
    for (let attemptsLeft = maxAttempts; ; attemptsLeft--) {
      const found: ScannedPacks = {
        candidates: new Set(),
        erased: new Set(),
        parts: new Map(),
        damaged: new Map(),
        others: new Set(),
        shared: []
      }
      const before = this.bytes
      const from = yield* this.#find(range, packs, found)
      yield* this.#findShared(found)
      if (found.damaged.size > 0 && attemptsLeft > 1) {
        this.#shared.forgetDamaged()
        packs = yield* this.#read([range])
        continue
      }
      for (const pack of found.candidates) scanned.candidates.add(pack)
      for (const pack of found.erased) scanned.erased.add(pack)
      for (const [pack, parts] of found.parts) scanned.parts.set(pack, parts)
      const steps = packs.flatMap(({ isOfSteps, number }) => {
        const parts = isOfSteps && number >= from ? found.parts.get(number) : undefined
        return parts === undefined ? [] : [{ number, ...parts }]
      })
      scanned.steps.unshift(...steps)
      for (const [pack, damage] of found.damaged) scanned.damaged.set(pack, damage)
      for (const pack of found.others) {
        if (!found.candidates.has(pack) && !found.damaged.has(pack)) scanned.others.add(pack)
      }
      scanned.from = from
      scanned.isOfErased ||= packs.some(({ isOfErased }) => isOfErased)
      scanned.bytes += this.bytes - before
      return
    }
  })

  /** Returns the lowest pack from which on all were looked at: those before it continue a chain that starts before the range. */
  readonly #find = Effect.fnUntraced(function* (
    this: PackScan,
    { from, to }: SessionRange,
    packs: ReadonlyArray<RangedPack>,
    found: ScannedPacks
  ): Effect.fn.Return<number, StorageUnavailable> {
    for (const { isKept, number } of packs) if (!isKept) found.erased.add(number)
    const hasParts = packs.some(({ isOfErased }) => isOfErased)
    let lowest = from
    let isFirst = true
    /** Small packs that follow each other. */
    let small: Array<Pack.StoredPack> = []
    const lookAtSmall = () => {
      const chains = Pack.chainsOf(small)
      const start = chains[0]?.[0]?.number
      // The rest of a chain of which the range has the last pack would begin in it.
      const isCut = isFirst && from > 1 && start !== undefined
      if (isCut) lowest = start
      else {
        for (const { number } of small) {
          if (start === undefined || number < start)
            found.damaged.set(number, new Damage("The start of its chain is missing"))
        }
      }
      for (const chain of chains) this.#open(chain, found, hasParts)
      small = []
      isFirst = false
    }
    for (const { bytes, number, session } of packs) {
      if (bytes !== undefined) {
        small.push({ number, bytes })
        continue
      }
      // Packs before it continue a chain that starts before the range, if they start none.
      if (small.length > 0 && isFirst && from > 1 && Pack.chainsOf(small).length === 0) {
        lowest = number
        small = []
        isFirst = false
      } else lookAtSmall()
      const read = yield* orDamage(this.#storage.readPacks(this.#project, session, [{ from: number, to: number }]))
      const large = read instanceof Damage ? [{ number, bytes: nothing }] : read
      for (const chain of Pack.chainsOf(large)) this.#open(chain, found, hasParts)
      yield* Effect.yieldNow
    }
    if (small.length > 0) lookAtSmall()
    if (this.bytes - this.#bytesAtTurn >= sliceBytes) {
      yield* Effect.yieldNow
      this.#bytesAtTurn = this.bytes
    }
    return Math.min(lowest, to)
  })

  #open(chain: Pack.StoredChain, found: ScannedPacks, hasParts: boolean): void {
    const { damage, damaged, packs } = Pack.openChain(chain)
    for (const number of damaged) found.damaged.set(number, damage!)
    if (packs.length === 0) return
    const span = spanOf(packs)
    if (span === undefined) for (const pack of packs) this.#lookIn(pack.content, [pack], found, hasParts)
    else this.#lookIn(span, packs, found, hasParts)
    for (const { content } of packs) Memory.free(content)
  }

  #lookIn(
    bytes: Buffer,
    packs: ReadonlyArray<Pack.OpenPack>,
    { candidates, damaged, others, parts, shared }: ScannedPacks,
    hasParts: boolean
  ): void {
    this.#packBytes += bytes.length
    const text = bytes.toString("latin1")
    let hit = this.#needle.findRaw(text)
    let end = 0
    for (const { content, number } of packs) {
      const start = end
      end += content.length
      if (hit !== -1 && hit < start) hit = this.#needle.findRaw(text, start)
      if (hit !== -1 && hit < end) candidates.add(number)
      else others.add(number)
      try {
        if (hasParts) parts.set(number, StepPieces.partsOf(content))
        for (const name of References.sharedIn(content)) {
          shared.push({ pack: number, key: Join.keyOf(name) })
        }
      } catch (error) {
        damaged.set(number, Damage.of(error))
      }
    }
  }

  /** Adds the packs whose shared pieces may hold the text. */
  readonly #findShared = Effect.fnUntraced(function* (this: PackScan, { candidates, damaged, shared }: ScannedPacks) {
    yield* this.#shared.look(shared.map(({ key }) => key))
    for (const { key, pack } of shared) {
      const verdict = this.#shared.of(key)
      if (verdict instanceof Damage) damaged.set(pack, verdict)
      if (verdict === "candidate") candidates.add(pack)
    }
  })
}

const startAt = (session: number, pack: number): ScannedSession => ({
  session,
  to: pack,
  from: pack + 1,
  isOfErased: false,
  bytes: 0,
  candidates: new Set(),
  erased: new Set(),
  parts: new Map(),
  steps: [],
  damaged: new Map(),
  others: new Set()
})
