/** Checks the steps of a session as a read would find them, and looks again without a cache at whatever seems wrong. */
import * as Effect from "effect/Effect"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { SessionId } from "../domain/Session.ts"
import { Damage } from "../payload/format/Damage.ts"
import * as EventReader from "../read/EventReader.ts"
import * as StepReads from "../read/StepReads.ts"
import { comparePlaces, placeOf, type StepPlace, type StoredStep } from "../storage/Steps.ts"
import { attempt, type ProjectVerification } from "./Verification.ts"

/** Steps in one page. */
const pageSteps = 256

export const check = Effect.fnUntraced(function* (
  run: ProjectVerification,
  session: number,
  id: SessionId | undefined
): Effect.fn.Return<void, StorageUnavailable> {
  const what = { session: id }
  for (let after: StepPlace | undefined; ;) {
    const start = after
    const page = yield* attempt(run, run.throttle(checkPage(run, session, id, start)), what)
    const last = page?.at(-1)
    if (last === undefined) return
    after = placeOf(last)
    if (start !== undefined && comparePlaces(after, start) <= 0) {
      return yield* run.report({ ...what, problem: "unreadable", reason: "Its steps do not go on" })
    }
  }
})

/** Returns the rows of the page. */
const checkPage = Effect.fnUntraced(function* (
  run: ProjectVerification,
  session: number,
  id: SessionId | undefined,
  after: StepPlace | undefined
): Effect.fn.Return<ReadonlyArray<StoredStep>, StorageUnavailable> {
  const list = run.storage.listSteps(run.project, session, after, pageSteps)
  const rows = yield* list
  const read = yield* StepReads.withTexts(run.source, run.project, session, rows)
  if (!read.some((step) => step instanceof Damage)) return rows
  // They may have been erased meanwhile.
  const again = yield* list
  const steps = yield* StepReads.withTexts(EventReader.sourceOf(run.storage), run.project, session, again)
  for (const [index, step] of steps.entries()) {
    if (!(step instanceof Damage)) continue
    const { spanId, traceId } = again[index]!
    const reason = `Step ${spanId} of trace ${traceId}: ${step.message}`
    yield* run.report({ problem: "step-damaged", session: id, reason })
  }
  return rows
})
