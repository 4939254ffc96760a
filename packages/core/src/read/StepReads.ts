/** Reads steps of a session. */
import * as Effect from "effect/Effect"
import { Overloaded, SessionNotFound, type StorageUnavailable } from "../domain/Errors.ts"
import { CurrentProject, type ProjectId } from "../domain/Project.ts"
import type { SessionId } from "../domain/Session.ts"
import { Damage } from "../payload/format/Damage.ts"
import type { Storage } from "../Storage.ts"
import * as Checksum from "../storage/Checksum.ts"
import type { Result } from "../storage/Result.ts"
import { comparePlaces, placeOf, type StepPlace, type StoredStep } from "../storage/Steps.ts"
import * as EventReader from "./EventReader.ts"
import { orDamage } from "./OrDamage.ts"
import type { UnpackedCache } from "./UnpackedCache.ts"

export interface Step extends StoredStep {
  /**
   * A JSON object in UTF-8 with what the other fields do not say: `parent_span_id`, `name`, `kind`, `duration_ms`, `status`, `message`,
   * `recorded`, and last `attributes`, byte for byte as they were recorded.
   */
  readonly text: Uint8Array
}

interface StepQuery {
  /** Starts after this place. */
  readonly after?: StepPlace | undefined
  /** At least 1. */
  readonly limit: number
  /** Called with the bytes of the texts before they are read. If it succeeds with false, the read fails with `Overloaded`. */
  readonly reserve?: ((bytes: number) => Effect.Effect<boolean>) | undefined
}

export interface StepPage {
  readonly rows: ReadonlyArray<Step>
  /** How many steps of the page are damaged, and left out. */
  readonly damaged: number
  /** The place after which the next page starts; undefined on the last page. */
  readonly next: StepPlace | undefined
}

export interface StepReads {
  /** In the order in which they started. A page may have fewer steps than `limit` although there are more, if their texts are long. */
  readonly listSteps: (session: SessionId, query: StepQuery) => Result<StepPage, SessionNotFound | Overloaded>
}

/** Texts of a page, or of one step (bytes). */
const pageBytes = 4 * 1024 * 1024

/** How often a page is read that is damaged: an erasure may have changed it between two round trips. */
const maxAttempts = 5

/** Packs that are read at a time. */
const concurrency = 4

/** The steps with their texts, or what is damaged of them, in the order of the rows. */
export const withTexts = Effect.fnUntraced(function* (
  source: EventReader.Source,
  project: ProjectId,
  session: number,
  rows: ReadonlyArray<StoredStep>,
  /** Packs that are read at a time. */
  concurrency = 1
): Effect.fn.Return<ReadonlyArray<Step | Damage>, StorageUnavailable> {
  const packs = Array.from(new Set(rows.map(({ pack }) => pack)))
  const outputs = yield* Effect.forEach(
    packs,
    (number) => {
      const place = { session, pack: { number, bytes: undefined } }
      return Effect.map(
        orDamage(EventReader.readPack(source, project, place, undefined)),
        (read) => [number, read] as const
      )
    },
    { concurrency }
  )
  const texts = new Map(outputs)
  return rows.map((row) => {
    const read = texts.get(row.pack)!
    if (read instanceof Damage) return read
    const text = read.output.subarray(row.start, row.start + row.bytes)
    return Checksum.ofStep(project, row, row, text) === row.checksum
      ? { ...row, text }
      : new Damage("The checksum of the step differs")
  })
})

/** The first rows that have at most `pageBytes`. */
const fitting = (rows: ReadonlyArray<StoredStep>): ReadonlyArray<StoredStep> => {
  let bytes = 0
  return rows.filter((row, index) => (bytes += row.bytes) <= pageBytes || index === 0)
}

export const make = (storage: Storage["Service"], unpacked: UnpackedCache): StepReads => {
  const read = Effect.fnUntraced(function* (project: ProjectId, session: SessionId, query: StepQuery) {
    const { after, limit, reserve } = query
    const state = yield* storage.getSession(project, session)
    if (state === undefined) return yield* new SessionNotFound()
    const found = yield* storage.listSteps(project, state.number, after, limit + 1)
    const rows = fitting(found.slice(0, limit))
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
    if (reserve !== undefined && !(yield* reserve(bytes))) return yield* new Overloaded()
    const steps = yield* withTexts(EventReader.sourceOf(storage, unpacked), project, state.number, rows, concurrency)
    const whole = steps.flatMap((step) => (step instanceof Damage ? [] : [step]))
    const last = rows.length < found.length ? placeOf(rows.at(-1)!) : undefined
    // Damage can put a row elsewhere than where its place is: then a client would read this page again and again.
    const next = last && after && comparePlaces(last, after) <= 0 ? undefined : last
    return { rows: whole, damaged: steps.length - whole.length, next }
  })

  const listSteps = Effect.fn("Recorder.listSteps")(function* (session: SessionId, query: StepQuery) {
    const project = yield* CurrentProject
    for (let attemptsLeft = maxAttempts; ; attemptsLeft--) {
      const page = yield* read(project, session, query)
      if (page.damaged === 0 || attemptsLeft === 1) return page
    }
  })

  return { listSteps }
}
