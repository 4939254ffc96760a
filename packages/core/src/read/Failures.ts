/**
 * Groups the calls that failed alike. A page goes through failed calls, those that were recorded last first, until it has its groups or has
 * looked at as many as it may: then its figures are those of the calls that it has looked at, and the next page goes on.
 */
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as CallTime from "../domain/CallTime.ts"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { EventId, EventSummary } from "../domain/Event.ts"
import { type Failure, keyOf, nameOf } from "../domain/Failure.ts"
import { CurrentProject, type ProjectId } from "../domain/Project.ts"
import { Damage } from "../payload/format/Damage.ts"
import type { Storage } from "../Storage.ts"
import type { Result } from "../storage/Result.ts"
import type { StoredSummary } from "../storage/Stored.ts"
import type * as DamageLog from "./DamageLog.ts"
import * as ErrorMessage from "./ErrorMessage.ts"
import * as EventPages from "./EventPages.ts"
import * as EventReader from "./EventReader.ts"
import { orDamage } from "./OrDamage.ts"

/** Failed calls that a page looks at, and those that it reads at once. */
const maxLooked = 10_000
const readEvents = 1_000

/** Reads for a page. Each looks at 10,000 events at most, where a filter has no index. */
const maxReads = 20

/** Names of versions, and of models, of a group. */
const maxNames = 20

/** The largest payload of which a message is read, and what the payloads that are read for a page may have together (bytes). */
const maxPayloadBytes = 4 * 1024 * 1024
const maxMessageBytes = 32 * 1024 * 1024

/** Payloads that are read at the same time. */
const concurrency = 4

export interface FailureQuery extends EventPages.EventFilterQuery {
  /** Goes on after this event. */
  readonly after: EventId | undefined
  /** Groups. */
  readonly limit: number
}

interface FailurePage {
  /** Those with most calls first. */
  readonly failures: ReadonlyArray<Failure>
  /** How many failed calls the page has looked at, and how many of them are damaged: they are in no group. */
  readonly events: number
  readonly damagedEvents: number
  /** Where it stopped, if it did not look at all failed calls. */
  readonly next: EventId | undefined
}

export interface Failures {
  readonly listFailures: (query: FailureQuery) => Result<FailurePage>
}

/** Calls that failed alike. */
interface Group {
  /** The first that was found, which was recorded last. */
  readonly latest: EventSummary
  events: number
  firstMs: number
  lastMs: number
  readonly sessions: Set<string>
  readonly people: Set<string>
  readonly versions: Map<string, Pick<EventSummary, "agent" | "agentVersion"> & { events: number }>
  readonly models: Map<string | null, { readonly model: string | null; events: number }>
}

const groupOf = (latest: EventSummary): Group => ({
  latest,
  events: 0,
  firstMs: Number.POSITIVE_INFINITY,
  lastMs: Number.NEGATIVE_INFINITY,
  sessions: new Set(),
  people: new Set(),
  versions: new Map(),
  models: new Map()
})

const count = <Key, Row extends { events: number }>(rows: Map<Key, Row>, key: Key, row: Row): void => {
  const known = rows.get(key)
  if (known === undefined) rows.set(key, row)
  else known.events++
}

const add = (group: Group, call: EventSummary): void => {
  const { agent, agentVersion, person, session } = call
  const model = call.model ?? call.responseModel
  const atMs = CallTime.of(call)
  group.events++
  group.firstMs = Math.min(group.firstMs, atMs)
  group.lastMs = Math.max(group.lastMs, atMs)
  group.sessions.add(session)
  if (person !== null) group.people.add(person)
  count(group.versions, `${agent}\u0000${agentVersion}`, { agent, agentVersion, events: 1 })
  count(group.models, model, { model, events: 1 })
}

const byEvents = (a: { readonly events: number }, b: { readonly events: number }) => b.events - a.events

const mostOf = <Row extends { readonly events: number }>(rows: ReadonlyMap<unknown, Row>) =>
  Array.from(rows.values()).sort(byEvents).slice(0, maxNames)

const failureOf = (name: string, group: Group, message: string | null): Failure => {
  const { latest } = group
  const { code, status, type } = keyOf(latest)!
  return {
    failure: name,
    httpStatus: status,
    errorType: type,
    errorCode: code,
    message,
    events: group.events,
    sessions: group.sessions.size,
    people: group.people.size,
    firstAt: DateTime.makeUnsafe(group.firstMs),
    lastAt: DateTime.makeUnsafe(group.lastMs),
    eventId: latest.id,
    session: latest.session,
    agentVersions: mostOf(group.versions),
    otherAgentVersions: Math.max(0, group.versions.size - maxNames),
    models: mostOf(group.models),
    otherModels: Math.max(0, group.models.size - maxNames)
  }
}

class TooLong extends Data.TaggedError("too-long") {}

export const make = (storage: Storage["Service"], onDamage: DamageLog.OnDamage): Failures => {
  /** What the output of a call says. Null if it says nothing, is too long, damaged, or was erased meanwhile. */
  const messageOf = (project: ProjectId, id: EventId): Effect.Effect<string | null, StorageUnavailable> => {
    const admit = ({ inputsBytes, outputBytes }: EventSummary) =>
      inputsBytes + outputBytes > maxPayloadBytes ? Effect.fail(new TooLong()) : Effect.void
    const read = EventReader.read(storage, project, id, { admit, onDamage: (damage) => onDamage(id, damage) })
    return orDamage(
      Effect.map(read, ({ payload }) => ErrorMessage.of(JSON.parse(Buffer.from(payload.output).toString())))
    ).pipe(
      Effect.map((message) => (message instanceof Damage ? null : message)),
      Effect.catchTag(["too-long", "event-damaged", "event-not-found"], () => Effect.succeed(null))
    )
  }

  const withMessages = (project: ProjectId, groups: ReadonlyMap<string, Group>) => {
    let bytes = 0
    const ordered = Array.from(groups).sort(([, a], [, b]) => byEvents(a, b))
    const isRead = ordered.map(
      ([, { latest }]) => (bytes += latest.inputsBytes + latest.outputBytes) <= maxMessageBytes
    )
    return Effect.forEach(
      ordered,
      ([name, group], index) =>
        Effect.map(isRead[index] ? messageOf(project, group.latest.id) : Effect.succeed(null), (message) =>
          failureOf(name, group, message)
        ),
      { concurrency }
    )
  }

  const listFailures = Effect.fn("Recorder.listFailures")(function* ({ fields, limit, ...query }: FailureQuery) {
    const project = yield* CurrentProject
    const groups = new Map<string, Group>()
    let [events, damagedEvents, reads] = [0, 0, 0]
    let { after } = query
    /** Returns false if the call is of one group too many. */
    const look = Effect.fnUntraced(function* (stored: StoredSummary) {
      const damage = EventReader.damageOfFields(project, stored)
      if (damage !== undefined) {
        yield* onDamage(stored.id, damage)
        damagedEvents++
        return true
      }
      const call = stored.summary!
      const name = nameOf(keyOf(call)!)
      const known = groups.get(name)
      if (known === undefined && groups.size === limit) return false
      const group = known ?? groupOf(call)
      groups.set(name, group)
      add(group, call)
      return true
    })
    const readOn = Effect.fnUntraced(function* () {
      const page = yield* EventPages.visible(storage, project, {
        ...query,
        fields: { ...fields, isError: true },
        order: "desc",
        after,
        limit: Math.min(readEvents, maxLooked - events)
      })
      for (const stored of page.rows) {
        if (!(yield* look(stored))) return after
        events++
        after = stored.id
      }
      after = page.next
      return events >= maxLooked || ++reads === maxReads ? after : undefined
    })
    let next: EventId | undefined
    do next = yield* readOn()
    while (next === undefined && after !== undefined)
    return { failures: yield* withMessages(project, groups), events, damagedEvents, next }
  })

  return { listFailures }
}
