/** Lists sessions in the order of their last events, with what their calls add up to. */
import {
  type EventId,
  type ListPage,
  type ProjectId,
  type SessionId,
  SessionParts,
  type SessionPlace,
  type SessionQuery,
  type StoredSession,
  EventTime
} from "@tachograph/core"
import { DateTime, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type * as Projects from "../names/Projects.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as CountedEvents from "./CountedEvents.ts"
import * as Names from "./Names.ts"
import * as Position from "./Position.ts"
import * as SessionRows from "./SessionRows.ts"

/** Sessions that one page looks at, about, and that one step of it reads. */
const maxLooked = 10_000
const maxStep = 500

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const stored = SessionRows.make(sql)
  const events = CountedEvents.make(sql)
  const names = Names.make(sql)
  const positions = Position.make(sql)
  const toStored = UuidColumn.encoder(sql)

  const readSizes = Effect.fnUntraced(function* (project_id: number, sessions: ReadonlyArray<number>) {
    const sizes = new Map<number, { readonly sentBytes: number; readonly newBytes: number }>()
    for (const chunk of BulkValues.chunks(sessions)) {
      const rows = yield* sql<{ session_number: Integer; sent: Integer; added: Integer }>`
        SELECT session_number, sum(sent_bytes) AS sent, sum(new_bytes) AS added FROM storage_usage
        WHERE project_id = ${project_id} AND ${BulkValues.isAmong(sql, "session_number", "integer", chunk)}
          ${Bucket.and(sql, chunk.map(Bucket.ofNumber))} GROUP BY session_number`
      for (const { added, sent, session_number } of rows) {
        sizes.set(Number(session_number), { sentBytes: sizeOf(sent), newBytes: sizeOf(added) })
      }
    }
    return sizes
  })

  const toSummaries = Effect.fnUntraced(function* (
    project_id: number,
    sessions: ReadonlyArray<readonly [number, ReadonlyArray<SessionParts.SessionPart>]>
  ): Effect.fn.Return<ReadonlyArray<StoredSession>, SqlError.SqlError> {
    if (sessions.length === 0) return []
    const summaries = sessions.map(([session, parts]) => [session, SessionParts.summaryOf(parts)] as const)
    const numbers = sessions.map(([session]) => session)
    const ids = yield* names.sessions(project_id, numbers)
    const agents = summaries.flatMap(([, summary]) => summary.agents)
    const agentNames = yield* names.agents(project_id, agents)
    const versionNames = yield* names.agentVersions(project_id, agents)
    const personIds = yield* names.people(
      project_id,
      summaries.flatMap(([, summary]) => summary.people)
    )
    const sizes = yield* readSizes(project_id, numbers)
    return summaries.flatMap(([number, { agentVersions, agents, first, last, models, people, sums }]) => {
      const session = ids.get(number)
      // It was erased meanwhile.
      if (session === undefined) return []
      const versions = agentVersions.map(({ agent, agentVersion }) => Names.versionKey(agent, agentVersion))
      return {
        session,
        firstEvent: first,
        firstEventAt: DateTime.makeUnsafe(EventTime.of(first)),
        lastEventAt: DateTime.makeUnsafe(EventTime.of(last)),
        ...sums,
        agents: agents.flatMap((agent) => agentNames.get(agent) ?? []),
        agentVersions: Array.from(new Set(versions.flatMap((version) => versionNames.get(version) ?? []))),
        people: people.flatMap((person) => personIds.get(person) ?? []),
        models,
        ...(sizes.get(number) ?? { sentBytes: 0, newBytes: 0 })
      }
    })
  })

  const newest = Effect.fnUntraced(function* (project_id: number) {
    const [row] = yield* sql<{ event_id: UuidColumn.StoredId }>`SELECT event_id FROM events
      WHERE project_id = ${project_id} ORDER BY event_id DESC LIMIT 1`
    return row && (UuidColumn.decode(row.event_id) as EventId)
  })

  const listIn = Effect.fnUntraced(function* (
    project_id: number,
    { above, after, below, limit, order, ...filter }: SessionQuery,
    position: Position.Position
  ): Effect.fn.Return<ListPage<StoredSession, SessionPlace>, SqlError.SqlError> {
    const asOf = after?.asOf ?? (yield* newest(project_id))
    if (asOf === undefined) return { rows: [], next: undefined }
    const wanted = yield* names.filterOf(project_id, filter)
    const isFiltered = Object.values(wanted).some((value) => value !== undefined)
    const recent = yield* stored.readRecent(project_id, position)
    const { moved, ranked } = yield* stored.readMoved(project_id, asOf, recent)
    const place = after?.last
    let range = rangeOf({ above, below }, order, place)
    const inOrder = inOrderOf(order)
    const ofPerson = yield* stored.readOfPerson(project_id, wanted.person)
    const known = ofPerson && [
      ...ranked.filter(({ session }) => ofPerson.has(session)),
      ...(yield* stored.rank(
        project_id,
        Array.from(ofPerson).filter((session) => !moved.has(session))
      ))
    ]
    let waiting: ReadonlyArray<SessionRows.Ranked> = (known ?? ranked)
      .filter(({ last }) => isWithin(range, last))
      .sort(inOrder)
    const found: Array<readonly [session: number, parts: ReadonlyArray<SessionParts.SessionPart>, last: EventId]> = []
    let looked = 0
    // Where the sessions are known, none is looked for.
    for (let end: EventId | undefined = known === undefined ? asOf : undefined; ;) {
      // One more than the page has shows whether there is another page.
      const step = isFiltered ? Math.min(maxStep, 2 * (limit + looked)) : Math.min(maxStep, limit - found.length + 1)
      const next: SessionRows.RankedStep =
        end === undefined ? { ranked: [], end } : yield* stored.readRanked(project_id, range, order, step)
      end = next.end
      const isReached = ({ last }: SessionRows.Ranked) => end === undefined || inOrder({ last }, { last: end }) <= 0
      const candidates = [
        ...next.ranked.filter(({ last, session }) => last <= asOf && !moved.has(session)),
        ...waiting.filter(isReached)
      ].sort(inOrder)
      waiting = waiting.filter((each) => !isReached(each))
      const parts = yield* stored.partsOf(
        project_id,
        candidates.map(({ session }) => session),
        recent
      )
      for (const { last, session } of candidates) {
        const own = Array.from(parts.get(session)?.values() ?? [])
        // Another row of the session says where it is.
        const isElsewhere = !moved.has(session) && own.some((part) => part.last > last)
        if (!isElsewhere && own.length > 0 && SessionParts.isSessionMatch(wanted, own)) found.push([session, own, last])
      }
      looked += step
      const isFull = found.length > limit
      if (isFull || end === undefined || looked >= maxLooked) {
        const page = found.slice(0, limit)
        const summaries = yield* toSummaries(
          project_id,
          page.map(([session, parts]) => [session, parts])
        )
        const last = isFull ? page.at(-1)![2] : end
        return { rows: summaries, next: last && { asOf, last } }
      }
      range = rangeOf(range, order, end)
    }
  })

  const listSessions = Effect.fn("SqlStorage.listSessions")(function* (
    project: ProjectId,
    query: SessionQuery
  ): Effect.fn.Return<ListPage<StoredSession, SessionPlace>, SqlError.SqlError> {
    const number = yield* projects.find(project)
    if (number === undefined) return { rows: [], next: undefined }
    return yield* positions.unchanged(number, (position) => listIn(number, query, position))
  })

  const summaryIn = Effect.fnUntraced(function* (project_id: number, session: number, position: Position.Position) {
    const recent: SessionRows.PartsOfSessions = new Map()
    const rows = yield* sql<CountedEvents.Row>`SELECT ${CountedEvents.selected(sql)}
      FROM events ${EventIndex.hint(sql, "events_by_session")}
      WHERE project_id = ${project_id} AND session_number = ${session} AND event_id > ${toStored(position.last)}
        ${Bucket.and(sql, Bucket.ofNumber(session))}`
    for (const event of yield* events.toCounted(project_id, rows)) SessionRows.addEvent(recent, event)
    const parts = (yield* stored.partsOf(project_id, [session], recent)).get(session)
    if (parts === undefined) return undefined
    const [summary] = yield* toSummaries(project_id, [[session, Array.from(parts.values())]])
    return summary
  })

  const sessionSummary = Effect.fn("SqlStorage.sessionSummary")(function* (project: ProjectId, session: SessionId) {
    const number = yield* projects.find(project)
    if (number === undefined) return undefined
    const [row] = yield* sql<{ session_number: Integer }>`SELECT session_number FROM sessions
      WHERE project_id = ${number} AND session_id = ${session}${Bucket.and(sql, Bucket.ofSession(session))}`
    if (row === undefined) return undefined
    return yield* positions.unchanged(number, (position) => summaryIn(number, Number(row.session_number), position))
  })

  return { listSessions, sessionSummary }
}

const isWithin = ({ above, below }: SessionRows.Range, id: EventId): boolean =>
  (above === undefined || id > above) && (below === undefined || id < below)

/** What follows a place in a range. */
const rangeOf = (range: SessionRows.Range, order: "asc" | "desc", place: EventId | undefined): SessionRows.Range => {
  if (place === undefined) return range
  return order === "asc" ? { ...range, above: place } : { ...range, below: place }
}

const inOrderOf =
  (order: "asc" | "desc") =>
  (a: Pick<SessionRows.Ranked, "last">, b: Pick<SessionRows.Ranked, "last">): number => {
    if (a.last === b.last) return 0
    return a.last < b.last === (order === "asc") ? -1 : 1
  }

/** Only damage makes it less than none. */
const sizeOf = (bytes: Integer): number => Math.max(0, Math.min(Number(bytes), Number.MAX_SAFE_INTEGER))
