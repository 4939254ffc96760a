/** One round of `damage`: reads, records, verifies and erases in a store in which one bit is flipped. */
import { CurrentProject, PersonId, Recorder, SessionId, Storage } from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Random } from "../harness/Random.ts"
import type { Known, Plan } from "./DamagePlan.ts"
import type { Flip } from "./Flip.ts"

const { Calls, Verifying } = StorageSuite

export interface Round {
  readonly plan: Plan
  readonly known: ReadonlyArray<Known>
  readonly flip: Flip
  readonly random: Random
  readonly count: (name: string, by?: number) => void
  readonly wrong: (text: string) => void
}

/** What was erased, and is looked for in what remains. */
export interface Erased {
  readonly session: string | undefined
  readonly person: string | undefined
}

/** Longer than any erasure or verification of these stores takes on a busy machine. */
const limit = Duration.minutes(2)

/** The database refuses a statement. Damage to its tables' definitions does that. */
const failedStatement = "failed statement"

const isOfDatabase = (outcome: string) => outcome === "storage-unavailable" || outcome === failedStatement

/** `ok`, the tag of the error, or what broke. */
const outcomeOf = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly tag: string; readonly value?: A }, never, R> =>
  Effect.map(Effect.exit(Effect.timeout(effect, limit)), (exit) => {
    if (Exit.isSuccess(exit)) return { tag: "ok", value: exit.value }
    const error = Cause.squash(exit.cause) as { readonly _tag?: string; readonly stack?: string }
    if (error._tag === "SqlError") return { tag: failedStatement }
    if (Cause.hasDies(exit.cause) || error._tag === undefined) return { tag: `crash: ${error.stack ?? String(error)}` }
    return { tag: error._tag === "TimeoutError" ? "does not end" : error._tag }
  })

const read = (recorder: Recorder["Service"], { call, id, project }: Known) =>
  outcomeOf(
    Effect.map(recorder.getEvent(id), ({ payload, person, session }) => {
      const isSame =
        Buffer.from(call.inputs).equals(payload.inputs) &&
        Buffer.from(call.output).equals(payload.output) &&
        session === call.session &&
        person === call.person
      return isSame ? "as sent" : "other bytes"
    }).pipe(Effect.provideService(CurrentProject, project))
  ).pipe(Effect.map(({ tag, value }) => value ?? tag))

type Outcomes = ReadonlyMap<Known, string>

/** Columns that lead from an event's id to its row. */
const leadsToRow = (flip: Flip, { id }: Known): boolean => {
  if (flip.kind === "file") return true
  if (flip.table === "projects") return ["project_id", "project_name"].includes(flip.column)
  return flip.table === "events" && ["project_id", "event_id"].includes(flip.column) && isIdOf(flip.row["event_id"], id)
}

const isIdOf = (stored: unknown, id: string): boolean =>
  (typeof stored === "string" ? stored : Buffer.from(stored as Uint8Array).toString("hex")).replaceAll("-", "") ===
  id.replaceAll("-", "")

/** Columns by which an erasure finds what belongs to a session or a person. Verifications report a change of them. */
const links: Readonly<Record<string, ReadonlyArray<string>>> = {
  projects: ["project_id", "project_name"],
  people: ["project_id", "person_number", "person_id"],
  sessions: ["project_id", "session_number", "session_id", "pending_sweep"],
  events: ["project_id", "session_number", "person_number", "pack_number", "event_id"],
  packs: ["project_id", "session_number", "pack_number", "kept"],
  steps: ["project_id", "session_number", "person_number", "pack_number", "received_at"],
  shared_pieces: ["project_id", "sha256"],
  shared_piece_owners: ["project_id", "session_number", "sha256"],
  idempotency_keys: ["project_id", "event_id", "key_hash"]
}

export const isLink = (flip: Flip): boolean => flip.kind === "file" || links[flip.table]?.includes(flip.column) === true

/** Whether an erasure cannot know any more which shared pieces others use. */
const isOwnership = (flip: Flip): boolean =>
  flip.kind === "file" ||
  (flip.table === "shared_piece_owners" && isLink(flip)) ||
  placeOf(flip) === "projects.project_id"

/** Where the flip is, for the summary. */
export const placeOf = (flip: Flip): string => (flip.kind === "file" ? "the file" : `${flip.table}.${flip.column}`)

const fresh = <A, E>(storage: Storage["Service"], body: (recorder: Recorder["Service"]) => Effect.Effect<A, E>) =>
  Effect.provide(Effect.flatMap(Recorder, body), Calls.recorderOver(storage))

/** Counts what may happen; the rest is wrong. In a damaged file, the database may fail. */
const judging =
  ({ count, flip, wrong }: Round) =>
  (what: string, outcome: string, allowed: ReadonlyArray<string>): void => {
    if (outcome === "ok") return
    if (allowed.includes(outcome) || (flip.kind === "file" && isOfDatabase(outcome))) count(`${what}: ${outcome}`)
    else wrong(`${what}: ${outcome}`)
  }

/** Reads everything, in each way. */
const reading = (round: Round) => {
  const { count, flip, plan, wrong } = round
  const judge = judging(round)

  const readAll = (storage: Storage["Service"], events: ReadonlyArray<Known>) =>
    fresh(storage, (recorder) =>
      Effect.gen(function* () {
        const outcomes = new Map<Known, string>()
        for (const event of events) {
          const outcome = yield* read(recorder, event)
          outcomes.set(event, outcome)
          count("reads")
          judge("read", outcome, ["as sent", "event-damaged", ...(leadsToRow(flip, event) ? ["event-not-found"] : [])])
        }
        return outcomes
      })
    )

  /** Every list ends, and none repeats an event. */
  const list = (storage: Storage["Service"]) =>
    Effect.gen(function* () {
      for (const { project, session } of plan.conversations) {
        const seen = new Set<string>()
        for (let after: Known["id"] | undefined; ;) {
          const page = yield* outcomeOf(
            storage.listEvents(project, { session: SessionId.make(session), order: "asc", limit: 7, after })
          )
          if (page.value === undefined) {
            judge("list", page.tag, [])
            break
          }
          const ids = page.value.map(({ id }) => id)
          if (ids.length === 0) break
          if (ids.some((id) => seen.has(id))) {
            wrong(`the list of ${session} repeats an event`)
            break
          }
          for (const id of ids) seen.add(id)
          after = ids.at(-1)
        }
      }
    })

  const verify = (storage: Storage["Service"], outcomes: Outcomes) =>
    Effect.gen(function* () {
      const { tag, value } = yield* outcomeOf(Verifying.verify(storage))
      if (value === undefined) return judge("verify", tag, [])
      count("verified")
      const named = new Set(Verifying.damagedOf(value))
      for (const [{ id }, outcome] of outcomes) {
        if (outcome === "event-damaged" && !named.has(id)) wrong(`verify does not name ${id}, which a read refuses`)
        if (outcome === "as sent" && named.has(id)) wrong(`verify names ${id}, which is read as it was sent`)
        if (outcome !== "event-not-found" || value.findings.length > 0) continue
        // A verification goes through the projects that exist.
        if (placeOf(flip) === "projects.project_id") count("verify finds nothing of a project whose number differs")
        else wrong(`verify finds nothing, but ${id} is not found`)
      }
      return undefined
    })

  return { readAll, list, verify }
}

/** Records, and erases. */
const writing = (round: Round) => {
  const { count, flip, plan, random, wrong } = round
  const isFile = flip.kind === "file"
  const judge = judging(round)

  /** Every session still takes events, and they are read as they were sent: at once, and by another process. */
  const recordOn = Effect.fnUntraced(function* (storage: Storage["Service"]) {
    const recorded: Array<Known> = []
    yield* fresh(storage, (recorder) =>
      Effect.gen(function* () {
        for (const { later, project } of plan.conversations) {
          yield* Effect.ignore(outcomeOf(Calls.putFingerprint(storage, project)))
          for (const call of later) {
            const { tag, value } = yield* outcomeOf(Calls.record(recorder, call)).pipe(
              Effect.provideService(CurrentProject, project)
            )
            judge("record", tag, ["ok"])
            if (value === undefined) continue
            count("recorded")
            const event = { id: value, project, call }
            recorded.push(event)
            const outcome = yield* read(recorder, event)
            if (outcome !== "as sent") (isFile ? count : wrong)(`read of an event recorded after the flip: ${outcome}`)
          }
        }
      })
    )
    yield* fresh(storage, (recorder) =>
      Effect.forEach(recorded, (event) =>
        Effect.map(read(recorder, event), (outcome) => {
          if (outcome !== "as sent")
            (isFile ? count : wrong)(`read by another process of an event recorded after the flip: ${outcome}`)
        })
      )
    )
    return recorded
  })

  /** What was read before `step` is read afterwards. */
  const stillRead = (step: string, before: Outcomes, after: Outcomes) => {
    for (const [event, outcome] of after) {
      if (before.get(event) !== "as sent" || outcome === "as sent") continue
      if (isOwnership(flip)) count(`${step} loses an event: flip in ${placeOf(flip)}`)
      else wrong(`${step} loses ${event.id} of ${event.call.session}: ${outcome}`)
    }
  }

  const erase = Effect.fnUntraced(function* (storage: Storage["Service"]) {
    const session = plan.conversations[random(0, 2)]!.session
    const person = plan.people[random(0, plan.people.length - 1)]!
    const erased = { session: undefined as string | undefined, person: undefined as string | undefined }
    yield* fresh(storage, (recorder) =>
      Effect.gen(function* () {
        const ofSession = yield* outcomeOf(recorder.eraseSession(SessionId.make(session)))
        judge("erase session", ofSession.tag, ["ok", ...(isLink(flip) ? ["session-not-found"] : [])])
        if (ofSession.value !== undefined) {
          count("erased")
          erased.session = session
        }
        const ofPerson = yield* outcomeOf(recorder.erasePerson(PersonId.make(person)))
        judge("erase person", ofPerson.tag, ["ok", ...(isLink(flip) ? ["person-not-found"] : [])])
        if (ofPerson.value !== undefined) {
          count("erased")
          erased.person = person
        }
      }).pipe(Effect.provideService(CurrentProject, plan.conversations[0]!.project))
    )
    return erased
  })

  return { recordOn, stillRead, erase }
}

export const make = (round: Round) => {
  const { count, flip, known, plan, wrong } = round
  const { list, readAll, verify } = reading(round)
  const { erase, recordOn, stillRead } = writing(round)

  const isErased = ({ person, session }: Erased, { call, project }: Known) =>
    project === plan.conversations[0]!.project && (call.session === session || call.person === person)

  const run = Effect.gen(function* () {
    const storage = yield* Storage
    yield* list(storage)
    const before = yield* readAll(storage, known)
    yield* verify(storage, before)
    const recorded = yield* recordOn(storage)
    const all = [...known, ...recorded]
    const middle = yield* readAll(storage, all)
    stillRead("recording", before, middle)
    yield* verify(storage, middle)
    const erased = yield* erase(storage)
    const gone = all.filter((event) => isErased(erased, event))
    const after = yield* readAll(
      storage,
      all.filter((event) => !isErased(erased, event))
    )
    stillRead("an erasure", middle, after)
    yield* fresh(storage, (recorder) =>
      Effect.forEach(gone, (event) =>
        Effect.map(read(recorder, event), (outcome) => {
          count("reads of erased events")
          if (outcome === "event-not-found" || (flip.kind === "file" && isOfDatabase(outcome))) return
          if (isLink(flip)) count(`an erased event remains (${outcome}): flip in ${placeOf(flip)}`)
          else wrong(`${event.id} was erased, and is read: ${outcome}`)
        })
      )
    )
    yield* verify(storage, after)
    return { erased, gone }
  })

  return run
}
