/**
 * Reads all that a project has, or the events that a filter finds: first what events name, then the events in the order of their
 * ids, up to the newest at the start, and steps between them. It holds no more than one group of events or steps, or one large event.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Agent, AgentName } from "../domain/Agent.ts"
import type { AgentVersion } from "../domain/AgentVersion.ts"
import {
  type AgentNotFound,
  type EventDamaged,
  type EventNotFound,
  Overloaded,
  type StorageUnavailable
} from "../domain/Errors.ts"
import type { Event, EventId, EventSummary } from "../domain/Event.ts"
import type { FingerprintId, RegisteredFingerprint } from "../domain/Fingerprint.ts"
import type { Person } from "../domain/Person.ts"
import type { ListPage } from "../storage/Lists.ts"
import type { StoredSummary } from "../storage/Stored.ts"
import type { Result } from "../storage/Result.ts"
import * as EventTime from "../domain/EventTime.ts"
import type { Step } from "../read/StepReads.ts"
import { NamesSeen } from "./NamesSeen.ts"
import { lagMs, type StepExport } from "./StepExport.ts"

/** What an export consists of, in the order in which an import needs it. */
export type ExportItem =
  | { readonly type: "export" }
  | { readonly type: "agent"; readonly agent: Agent }
  | { readonly type: "agent-version"; readonly agent: AgentName; readonly version: AgentVersion }
  | { readonly type: "person"; readonly person: Person }
  | { readonly type: "fingerprint"; readonly fingerprint: RegisteredFingerprint }
  | ({ readonly type: "event"; readonly event: Event } & Settled)
  /** Steps of one session, agent and person that were recorded together. */
  | { readonly type: "steps"; readonly steps: ReadonlyArray<Step> }
  /** An event whose bytes are not those that were recorded. */
  | ({ readonly type: "damaged"; readonly id: EventId } & Settled)
  /** The last one. The export is continued after this id: with what is recorded later, or if the limit was reached. */
  | {
      readonly type: "end"
      /** Whether the limit was not reached. */
      readonly isWhole: boolean
      readonly after: EventId | undefined
      readonly events: number
      readonly damaged: number
      /** Steps that are left out. */
      readonly damagedSteps: number
    }

interface Settled {
  /** Whether no event can appear any more before this one, so that an export can be continued after it. */
  readonly isSettled: boolean
}

export interface ExportRange {
  /** Only events after this one. */
  readonly after?: EventId | undefined
  /** Events at most, damaged ones among them. */
  readonly limit?: number | undefined
}

/** How far an export goes. */
export interface Extent {
  readonly end: EventId
  /** Up to here no event can appear any more. */
  readonly settled: EventId
}

/** What names agents, versions, people and fingerprints. */
export type Named = Pick<EventSummary, "agent" | "agentVersion" | "person"> &
  Partial<Pick<EventSummary, "fingerprintId">>

/** What an export reads with, in the current project. */
export interface Reading {
  /** How far an export goes that begins now, after this event; undefined if there are no events. */
  readonly extent: (after: EventId | undefined) => Result<Extent | undefined>
  /** A page of the events that the filter finds, in ascending order. */
  readonly page: (after: EventId | undefined, limit: number) => Result<ListPage<StoredSummary, EventId>>
  readonly event: (id: EventId) => Result<Event, EventNotFound | EventDamaged>
  /** The steps that were received from a time on (epoch ms), of sessions with an event up to an id; undefined if the filter finds none. */
  readonly steps: ((fromMs: number, upTo: EventId) => StepExport) | undefined
  readonly isDamaged: (stored: StoredSummary) => boolean
  readonly names: {
    readonly agents: (after: number | undefined) => Result<ListPage<Agent, number>>
    readonly versions: (
      agent: AgentName,
      after: number | undefined
    ) => Result<ListPage<AgentVersion, number>, AgentNotFound>
    readonly people: (after: number | undefined) => Result<ListPage<Person, number>>
    readonly fingerprints: (after: FingerprintId | undefined) => Result<ListPage<RegisteredFingerprint, FingerprintId>>
    /** Those of one event, or of steps. What was erased meanwhile is left out. */
    readonly of: (named: Named, seen: NamesSeen) => Result<ReadonlyArray<ExportItem>>
  }
}

/** Counts the bytes of what is held, beside a few pieces; 0 gives them back. False if they do not fit now. */
export type Reserve = (bytes: number) => Effect.Effect<boolean>

/** Events are read together up to this size and number. */
const groupBytes = 256 * 1024
const groupEvents = 64

/** How many of them are read at a time: a database on another machine is waited for once for all of these. */
const readConcurrency = 8

const pageEvents = 512

/** How often a large event asks for memory, and for how long: other answers end, or are given up. */
const reserveEvery = "100 millis"
const maxReserves = 600

const sizeOf = ({ summary }: StoredSummary): number =>
  summary === undefined ? 0 : summary.inputsBytes + summary.outputBytes

/** Consecutive events that are read together. */
function* groupsOf(rows: ReadonlyArray<StoredSummary>): Generator<ReadonlyArray<StoredSummary>> {
  let group: Array<StoredSummary> = []
  let bytes = 0
  for (const row of rows) {
    if (group.length > 0 && (bytes + sizeOf(row) > groupBytes || group.length === groupEvents)) {
      yield group
      group = []
      bytes = 0
    }
    group.push(row)
    bytes += sizeOf(row)
  }
  if (group.length > 0) yield group
}

const allPages = <Row, Key, E>(page: (after: Key | undefined) => Effect.Effect<ListPage<Row, Key>, E>) =>
  Stream.paginate(undefined as Key | undefined, (after) =>
    Effect.map(page(after), ({ next, rows }) => [rows, Option.fromUndefinedOr(next)] as const)
  )

/** Everything that events can name, whether an event does or not. */
const allNames = ({ names }: Reading): Stream.Stream<ExportItem, StorageUnavailable> => {
  const versionsOf = (agent: Agent) =>
    allPages((after: number | undefined) => names.versions(agent.name, after)).pipe(
      Stream.map((version): ExportItem => ({ type: "agent-version", agent: agent.name, version })),
      // Agents are not erased.
      Stream.catchTag("agent-not-found", () => Stream.empty)
    )
  const agents = Stream.flatMap(allPages(names.agents), (agent) =>
    Stream.concat(Stream.make<[ExportItem]>({ type: "agent", agent }), versionsOf(agent))
  )
  const people = Stream.map(allPages(names.people), (person): ExportItem => ({ type: "person", person }))
  const fingerprints = Stream.map(allPages(names.fingerprints), (fingerprint): ExportItem => ({
    type: "fingerprint",
    fingerprint
  }))
  return agents.pipe(Stream.concat(people), Stream.concat(fingerprints))
}

/** Fails with `Overloaded` after a minute. */
const waitFor = Effect.fnUntraced(function* (reserve: Reserve, bytes: number): Effect.fn.Return<void, Overloaded> {
  for (let attempt = 0; attempt < maxReserves; attempt++) {
    if (yield* reserve(bytes)) return
    yield* Effect.sleep(reserveEvery)
  }
  return yield* new Overloaded()
})

/** An event, with what has to come before it, or nothing if it was erased meanwhile. */
interface Found {
  readonly id: EventId
  readonly items: ReadonlyArray<ExportItem>
}

/** Gives steps. `namesOf` are those that have to come before them, `onDamaged` is told how many are left out. */
const givingSteps = (
  steps: StepExport | undefined,
  namesOf: (named: Named) => Result<ReadonlyArray<ExportItem>>,
  onDamaged: (count: number) => void
) => {
  const read = Effect.fnUntraced(function* (
    from: StepExport,
    beforeMs: number
  ): Effect.fn.Return<readonly [ReadonlyArray<ExportItem>, undefined] | undefined, StorageUnavailable> {
    const group = yield* from.next(beforeMs)
    if (group === undefined) return undefined
    onDamaged(group.damaged)
    const [first] = group.steps
    if (first === undefined) return [[], undefined]
    return [[...(yield* namesOf(first)), { type: "steps", steps: group.steps }], undefined]
  })

  /** Those that were received before a time (epoch ms) and were not given yet. */
  const before = (beforeMs: number): Stream.Stream<ReadonlyArray<ExportItem>, StorageUnavailable> =>
    steps === undefined
      ? Stream.empty
      : Stream.unfold(undefined, () => read(steps, beforeMs)).pipe(Stream.filter((items) => items.length > 0))

  /** Events, with the steps before them. */
  const between = (found: ReadonlyArray<Found>): Stream.Stream<ReadonlyArray<ExportItem>, StorageUnavailable> => {
    const all = Stream.make<[ReadonlyArray<ExportItem>]>(found.flatMap(({ items }) => items))
    const last = found.at(-1)
    if (steps === undefined || last === undefined) return all
    const beforeMs = ({ id }: Found) => EventTime.of(id) - lagMs
    const each = Stream.flatMap(Stream.fromIterable(found), (event) =>
      Stream.concat(before(beforeMs(event)), Stream.make<[ReadonlyArray<ExportItem>]>(event.items))
    )
    return Stream.unwrap(Effect.map(steps.has(beforeMs(last)), (has) => (has ? each : all)))
  }
  return { before, between }
}

/**
 * The items in groups, as they are read. What events name comes before them all if `isAll`, and otherwise each before the first event
 * that names it: then only what they name. Fails with `Overloaded` if there is no memory for a large event for a minute.
 */
export const items = (
  reading: Reading,
  { after, limit = Number.POSITIVE_INFINITY }: ExportRange,
  isAll: boolean,
  reserve: Reserve
): Result<Stream.Stream<ReadonlyArray<ExportItem>, StorageUnavailable | Overloaded>> => {
  const seen = new NamesSeen()
  const counted = { events: 0, damaged: 0, damagedSteps: 0 }
  let last = after
  let isCut = false

  const readEvent = (stored: StoredSummary, isSettled: boolean): Result<ReadonlyArray<ExportItem>> => {
    const damaged: ReadonlyArray<ExportItem> = [{ type: "damaged", id: stored.id, isSettled }]
    if (reading.isDamaged(stored)) return Effect.succeed(damaged)
    return reading.event(stored.id).pipe(
      Effect.map((event): ReadonlyArray<ExportItem> => [{ type: "event", event, isSettled }]),
      Effect.catchTags({
        "event-damaged": () => Effect.succeed(damaged),
        // Erased meanwhile.
        "event-not-found": () => Effect.succeed([])
      })
    )
  }

  const readGroup = Effect.fnUntraced(function* (group: ReadonlyArray<StoredSummary>, settled: EventId) {
    const bytes = group.reduce((sum, stored) => sum + sizeOf(stored), 0)
    if (bytes > groupBytes) yield* waitFor(reserve, bytes)
    const isSettled = ({ id }: StoredSummary) => id <= settled
    const read = yield* Effect.forEach(group, (stored) => readEvent(stored, isSettled(stored)), {
      concurrency: readConcurrency
    })
    const found: Array<Found> = []
    for (const [index, own] of read.entries()) {
      const stored = group[index]!
      const items: Array<ExportItem> = []
      // An event that appears while the export runs may name what did not exist when all names were read.
      const areNamesWritten = isAll && isSettled(stored)
      if (!areNamesWritten && stored.summary !== undefined && own[0]?.type === "event")
        items.push(...(yield* reading.names.of(stored.summary, seen)))
      items.push(...own)
      found.push({ id: stored.id, items })
      for (const { type } of own) counted[type === "event" ? "events" : "damaged"]++
      last = stored.id
    }
    return { found, isLarge: bytes > groupBytes }
  })

  const eventsOf = ({ end, settled }: Extent) => {
    const fromMs = after === undefined ? Number.MIN_SAFE_INTEGER : EventTime.of(after) - lagMs
    const steps = givingSteps(
      reading.steps?.(fromMs, end),
      (named) => (isAll ? Effect.succeed([]) : reading.names.of(named, seen)),
      (count) => (counted.damagedSteps += count)
    )
    const page = Effect.fnUntraced(function* (from: EventId | undefined) {
      const left = limit - counted.events - counted.damaged
      const { next, rows } = yield* reading.page(from, Math.min(pageEvents, left + 1))
      const within = rows.filter(({ id }) => id <= end)
      const taken = within.slice(0, left)
      isCut = within.length > taken.length
      const isOver = isCut || next === undefined || next >= end
      return [Array.from(groupsOf(taken)), isOver ? Option.none<EventId>() : Option.some(next)] as const
    })
    return Stream.paginate(after, page).pipe(
      Stream.mapEffect((group) => readGroup(group, settled)),
      Stream.flatMap(({ found, isLarge }) =>
        isLarge
          ? // Taken, when the next one is asked for.
            Stream.concat(steps.between(found), Stream.fromEffectDrain(reserve(0)))
          : steps.between(found)
      ),
      Stream.concat(Stream.suspend(() => (isCut ? Stream.empty : steps.before(Number.POSITIVE_INFINITY))))
    )
  }

  /** Not the last event, if others may still appear before it: the next export has it again. */
  const next = (settled: EventId) => (last === undefined || last <= settled ? last : settled)

  // Before the names, so that those of every settled event are among them.
  return Effect.map(reading.extent(after), (extent) => {
    const names = isAll ? Stream.grouped(allNames(reading), groupEvents) : Stream.empty
    return Stream.make<[ReadonlyArray<ExportItem>]>([{ type: "export" }]).pipe(
      Stream.concat(extent === undefined ? names : Stream.concat(names, eventsOf(extent))),
      Stream.concat(
        Stream.sync((): [ExportItem] => [
          { type: "end", isWhole: !isCut, after: extent === undefined ? after : next(extent.settled), ...counted }
        ])
      )
    )
  })
}
