/** Gives the steps of an export, group by group, in the order in which they were received. */
import * as Effect from "effect/Effect"
import type { EventId } from "../domain/Event.ts"
import * as EventTime from "../domain/EventTime.ts"
import type { ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as EventReader from "../read/EventReader.ts"
import * as StepReads from "../read/StepReads.ts"
import type { Storage } from "../Storage.ts"
import type { Result } from "../storage/Result.ts"
import type { StepFilter, StoredStep } from "../storage/Steps.ts"

/** The session of a step has an event of before so long after the receipt of the step, whatever clocks say (ms). */
export const lagMs = 60_000

/** Rows that are read at a time: more than the steps of a pack. */
const pageRows = 512

/** Steps that have a pack in common, without those that are damaged. */
interface StepGroup {
  readonly steps: ReadonlyArray<StepReads.Step>
  readonly damaged: number
}

const isOfPack = (a: StoredStep, b: StoredStep): boolean => a.sessionNumber === b.sessionNumber && a.pack === b.pack

export class StepExport {
  readonly #storage: Storage["Service"]
  readonly #project: ProjectId
  readonly #filter: StepFilter
  /** The steps of sessions that begin after this event are left out. */
  readonly #end: EventId
  /** Whether sessions begin before, of those with steps that are so late that this is not sure. */
  readonly #begun = new Map<SessionId, boolean>()
  #groups: ReadonlyArray<ReadonlyArray<StoredStep>> = []
  #last: StoredStep | undefined
  #isOver = false

  constructor(storage: Storage["Service"], project: ProjectId, filter: StepFilter, end: EventId) {
    this.#end = end
    this.#storage = storage
    this.#project = project
    this.#filter = filter
  }

  /** Whether there is a next group that was received before this time (epoch ms). */
  readonly has = Effect.fnUntraced(function* (this: StepExport, beforeMs: number) {
    if (this.#groups.length === 0 && !this.#isOver) yield* this.#readPage
    const first = this.#groups[0]?.[0]
    return first !== undefined && first.receivedAt.epochMilliseconds < beforeMs
  })

  /** The next group, if it was received before this time (epoch ms). */
  readonly next = Effect.fnUntraced(function* (this: StepExport, beforeMs: number) {
    if (!(yield* this.has(beforeMs))) return undefined
    const [group, ...others] = this.#groups as readonly [ReadonlyArray<StoredStep>]
    this.#groups = others
    if (!(yield* this.#isBegun(group[0]!))) return { steps: [], damaged: 0 }
    const source = EventReader.sourceOf(this.#storage)
    const read = yield* StepReads.withTexts(source, this.#project, group[0]!.sessionNumber, group)
    const steps = read.flatMap((step) => (step instanceof Damage ? [] : [step]))
    return { steps, damaged: group.length - steps.length } satisfies StepGroup
  })

  readonly #isBegun = Effect.fnUntraced(function* (this: StepExport, { receivedAt, session }: StoredStep) {
    if (receivedAt.epochMilliseconds < EventTime.of(this.#end) - lagMs) return true
    const known = this.#begun.get(session)
    if (known !== undefined) return known
    const [first] = yield* this.#storage.listEvents(this.#project, { session, order: "asc", limit: 1 })
    const isBegun = first !== undefined && first.id <= this.#end
    this.#begun.set(session, isBegun)
    return isBegun
  })

  get #readPage(): Result<void> {
    return Effect.suspend(() =>
      Effect.map(this.#storage.findSteps(this.#project, this.#filter, this.#last, pageRows), (rows) => {
        this.#isOver = rows.length < pageRows
        const groups: Array<Array<StoredStep>> = []
        for (const row of rows) {
          const group = groups.at(-1)
          if (group !== undefined && isOfPack(group[0]!, row)) group.push(row)
          else groups.push([row])
        }
        // The last one may go on in the next page.
        if (!this.#isOver && groups.length > 1) groups.pop()
        this.#groups = groups
        this.#last = groups.at(-1)?.at(-1)
      })
    )
  }
}
