/** A session of the memory storage: its packs, and how a sweep changes them. */
import type { AgentName } from "../domain/Agent.ts"
import type { SessionId } from "../domain/Session.ts"
import type { PackRange, PackRanges } from "../payload/format/PackRanges.ts"
import type { StoredPack } from "../payload/format/Pack.ts"
import { type Change, lastWithinStep, type SweepPack } from "../payload/Sweep.ts"
import type { NewPack, SessionState } from "../storage/Appending.ts"
import type { SweepRequest } from "../storage/Erasing.ts"
import { comparePlaces, placeOf, type StepPlace, type StoredStep } from "../storage/Steps.ts"
import type { RangedPack } from "../storage/Stored.ts"

interface Pack extends StoredPack {
  readonly agent: AgentName
  readonly newBytes: number
  /** Whether it was written for steps, and not for an event. */
  readonly isOfSteps: boolean
  /** Whether the pack's event, or one of its steps, still exists. */
  isKept: boolean
}

export class MemorySession {
  readonly id: SessionId
  state: SessionState
  /** Counts deletions of events; negative while all of them have been swept, and where packs of steps were added. */
  pendingSweep = 0
  /** Pieces that sweeps have erased. */
  erasedPieces = 0
  readonly packs = new Map<number, Pack>()
  /** In the order of their places. */
  steps: ReadonlyArray<StoredStep> = []
  /** The names of the shared pieces that it owns, in hex. */
  readonly owned = new Set<string>()

  constructor(id: SessionId, number: number) {
    this.id = id
    this.state = { number, generation: 0, packs: 0, history: 0, parts: 0 }
  }

  append({ bytes, history, newBytes, number, parts }: NewPack, agent: AgentName, isOfSteps = false): void {
    this.packs.set(number, { number, bytes, agent, newBytes, isKept: true, isOfSteps })
    const { state } = this
    this.state = { ...state, packs: number, history: state.history + history, parts: state.parts + parts }
  }

  /** The event of a pack was deleted. The pack may be gone already, if it was damaged. */
  erase(number: number): void {
    const pack = this.packs.get(number)
    if (pack !== undefined) pack.isKept = false
    this.pendingSweep = Math.abs(this.pendingSweep) + 1
  }

  appendSteps(steps: ReadonlyArray<StoredStep>): void {
    this.steps = [...this.steps, ...steps].sort((a, b) => comparePlaces(placeOf(a), placeOf(b)))
    if (this.pendingSweep === 0) this.pendingSweep = -1
  }

  stepsAfter(after: StepPlace | undefined, limit: number): ReadonlyArray<StoredStep> {
    return this.steps.filter((step) => after === undefined || comparePlaces(placeOf(step), after) > 0).slice(0, limit)
  }

  /** Erases the steps of at most `limit` packs, and returns of how many. */
  eraseSteps(isErasable: (step: StoredStep) => boolean, limit: number): number {
    const packs = new Set(this.steps.flatMap((step) => (isErasable(step) ? [step.pack] : [])))
    const erased = Array.from(packs).slice(0, limit)
    this.steps = this.steps.filter(({ pack }) => !erased.includes(pack))
    for (const pack of erased) this.erase(pack)
    return erased.length
  }

  read(ranges: PackRanges, newestBytes = Number.POSITIVE_INFINITY): ReadonlyArray<StoredPack> {
    const packs = Array.from(this.packs.values()).filter(({ number }) =>
      ranges.some(({ from, to }) => from <= number && number <= to)
    )
    let bytesLeft = newestBytes
    return packs
      .toReversed()
      .filter(({ bytes }) => (bytesLeft -= bytes.length) >= 0)
      .toReversed()
  }

  readRange({ from, to }: PackRange, maxPackBytes: number): ReadonlyArray<RangedPack> {
    return Array.from(this.packs.values())
      .filter(({ number }) => from <= number && number <= to)
      .map(({ bytes, isKept, isOfSteps, number }) => ({
        session: this.state.number,
        number,
        bytes: bytes.length > maxPackBytes ? undefined : bytes,
        isKept,
        isOfSteps,
        isOfErased: this.pendingSweep !== 0
      }))
  }

  /** The packs above a number that have at most `maxBytes` together; at least one, if there are any. */
  page(above: number, maxBytes: number) {
    const packs = Array.from(this.packs.values()).filter(({ number }) => number > above)
    let bytesLeft = maxBytes
    const omitted = packs.findIndex(({ bytes }, index) => (bytesLeft -= bytes.length) < 0 && index > 0)
    return { packs: packs.slice(0, omitted === -1 ? packs.length : omitted), isLast: omitted === -1 }
  }

  packsToSweep({ above, limit, to }: SweepRequest) {
    const all: ReadonlyArray<SweepPack> = Array.from(this.packs.values())
    const below = all.filter(({ number }) => number <= to)
    const packs = lastWithinStep(below.slice(-limit))
    return {
      state: this.state,
      pendingSweep: this.pendingSweep,
      packs,
      isLast: packs.length === below.length,
      added: all.filter(({ number }) => number > above)
    }
  }

  change(changes: ReadonlyArray<Change>, pieces: number): void {
    this.erasedPieces += pieces
    for (const { bytes, newBytes, number } of changes) {
      const pack = this.packs.get(number)!
      if (bytes === undefined) this.packs.delete(number)
      else this.packs.set(number, { ...pack, bytes, newBytes })
    }
    if (changes.length > 0) this.state = { ...this.state, generation: this.state.generation + 1 }
  }

  /** Deletes at most `limit` packs, and returns their bytes. */
  deletePacks(limit: number): number {
    let bytes = 0
    for (const pack of Array.from(this.packs.values()).slice(0, limit)) {
      bytes += pack.bytes.length
      this.packs.delete(pack.number)
    }
    this.state = { ...this.state, generation: this.state.generation + 1 }
    return bytes
  }
}
