/**
 * Finds the events of a session, an agent, a version or a person, or of several of these, or of a time, in the order of their ids. Reads
 * about as much as it finds, however many events the project has; `docs/storage.md` says what each combination costs.
 */
import type { EventId, EventQuery, FieldFilter } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as Attempts from "../sql/Attempts.ts"
import * as FieldConditions from "./FieldConditions.ts"
import * as EventStreams from "./EventStreams.ts"
import * as TimeWalks from "./TimeWalks.ts"
import * as Walks from "./Walks.ts"

type Filter = Pick<EventQuery, "agent" | "agentVersion" | "person" | "session">

/** Events that were found. */
export interface Found {
  /** A query for their rows of `events`, in no particular order. */
  readonly rows: Statement.Fragment
  /** How many there were, if that is known. If there are fewer rows, some were erased meanwhile. */
  readonly count: number | undefined
  /** The condition for the events `e` to take in order, if a distributed database looks for them itself. */
  readonly where?: Statement.Fragment
}

/** The numbers of the names in a filter; undefined for those that it does not name. A version has its number within the agent. */
interface Numbers {
  readonly session?: number
  readonly agent?: number
  readonly person?: number
  readonly version?: number
}

export const make = (sql: SqlClient.SqlClient) => {
  const rangeOf = EventStreams.rangeOf(sql)
  const walk = Walks.make(sql)
  const { isOfTimes, walkDuring } = TimeWalks.make(sql)

  /** Undefined if a name does not exist. */
  const numbersOf = Effect.fnUntraced(function* (project_id: number, { agent, agentVersion, person, session }: Filter) {
    const select = (number: string, table: string, name: string, value: string) =>
      sql`SELECT ${sql(number)} FROM ${sql(table)} WHERE project_id = ${project_id} AND ${sql(name)} = ${value}`
    const queries: Array<readonly [name: keyof Numbers, query: Statement.Fragment]> = []
    if (session !== undefined) {
      const ofBucket = Bucket.and(sql, Bucket.ofSession(session))
      queries.push(["session", sql`${select("session_number", "sessions", "session_id", session)}${ofBucket}`])
    }
    if (person !== undefined) queries.push(["person", select("person_number", "people", "person_id", person)])
    const ofAgent = agent !== undefined && select("agent_number", "agents", "agent_name", agent)
    if (ofAgent) queries.push(["agent", ofAgent])
    if (agentVersion !== undefined) {
      const ofVersion = select("agent_version_number", "agent_versions", "agent_version_name", agentVersion)
      queries.push(["version", ofAgent ? sql`${ofVersion} AND agent_number = (${ofAgent})` : sql`${ofVersion} LIMIT 1`])
    }
    const [row] = yield* sql<Readonly<Record<keyof Numbers, number | null>>>`SELECT ${sql.csv(
      queries.map(([name, query]) => sql`(${query}) AS ${sql(name)}`)
    )}`
    return queries.every(([name]) => row![name] !== null) ? (row as Numbers) : undefined
  })

  /** The conditions that an event has all of these names. */
  const conditionsOf = (
    project_id: number,
    { agentVersion }: Filter,
    { agent, person, session }: Numbers
  ): ReadonlyArray<Statement.Fragment> =>
    given(
      session === undefined ? undefined : sql`e.session_number = ${session}`,
      person === undefined ? undefined : sql`e.person_number = ${person}`,
      agent === undefined ? undefined : sql`e.agent_number = ${agent}`,
      agentVersion === undefined ? undefined : isOf(project_id, agentVersion)
    )

  /** Each of the walks finds the same events. */
  const walksOf = (
    project_id: number,
    { agentVersion }: Filter,
    { agent, person, session, version }: Numbers
  ): ReadonlyArray<Walks.Walk> => {
    const isOfSession = session === undefined ? undefined : sql`e.session_number = ${session}`
    const isOfPerson = person === undefined ? undefined : sql`e.person_number = ${person}`
    const isOfVersion = agentVersion === undefined ? undefined : isOf(project_id, agentVersion)
    const walks: Array<Walks.Walk> = []
    if (session !== undefined) {
      const streams = EventStreams.of("events_by_session", session, agent)
      walks.push({ way: streams, conditions: given(isOfPerson, isOfVersion) })
    }
    if (person !== undefined) {
      const streams = EventStreams.of("events_by_person", person, agent)
      walks.push({ way: streams, conditions: given(isOfSession, isOfVersion) })
    }
    if (agentVersion !== undefined) {
      const streams =
        agent === undefined ? EventStreams.ofVersion(agentVersion) : EventStreams.of("events_by_agent", agent, version)
      walks.push({ way: streams, conditions: given(isOfSession, isOfPerson) })
    }
    if (walks.length === 0) walks.push({ way: EventStreams.of("events_by_agent", agent!), conditions: [] })
    return walks
  }

  /** Whether an event is of a version of this name, of any agent. */
  const isOf = (project_id: number, agentVersion: string) =>
    sql`EXISTS (SELECT 1 FROM agent_versions v WHERE v.project_id = ${project_id}
      AND v.agent_version_name = ${agentVersion} AND v.agent_number = e.agent_number
      AND v.agent_version_number = e.agent_version_number)`

  const withIds = (
    project_id: number,
    bucket: number | undefined,
    ids: ReadonlyArray<UuidColumn.StoredId>
  ): Found | undefined => {
    if (ids.length === 0) return undefined
    const selection = {
      table: "events",
      columns: sql`*`,
      isOfParent: sql`project_id = ${project_id}${bucket === undefined ? sql.literal("") : Bucket.and(sql, bucket)}`,
      name: "event_id",
      type: "uuid",
      lock: sql``
    } as const
    return { rows: Dialects.of(sql).rowsByName(selection, ids), count: ids.length }
  }

  /** Finds events by streams that contain no others. */
  const findIn = Effect.fnUntraced(function* (
    project_id: number,
    bucket: number,
    streams: EventStreams.Streams,
    range: EventStreams.Range,
    limit: number
  ) {
    const { begin, rows } = EventStreams.make(sql, project_id, bucket)
    let merge = yield* begin(streams, range)
    if (merge === undefined) return undefined
    if (!merge.isBounded) return { rows: rows(merge, limit), count: undefined }
    const ids: Array<UuidColumn.StoredId> = []
    const attempt = Attempts.make("A list of events")
    while (merge !== undefined) {
      const found: ReadonlyArray<{ event_id: UuidColumn.StoredId }> = yield* sql<{ event_id: UuidColumn.StoredId }>`
        SELECT e.event_id FROM (${rows(merge, limit - ids.length)}) AS e
        ORDER BY e.event_id ${sql.literal(range.order)}`
      const before = ids.at(-1) ?? range.after
      for (const { event_id } of found) ids.push(event_id)
      if (ids.length === limit || !merge.isBounded) break
      if (!Walks.isBeyond(ids.at(-1), before, range.order)) yield* attempt
      merge = yield* begin(streams, { ...range, after: ids.at(-1) ?? range.after })
    }
    return withIds(project_id, bucket, ids)
  })

  const namesOf = ({ agent, agentVersion, person, session }: EventQuery): Filter | undefined => {
    const filter = { agent, agentVersion, person, session }
    return Object.values(filter).every((name) => name === undefined) ? undefined : filter
  }

  /** Whether an event is of the project and these names: for queries that the nodes of a distributed database answer. */
  const whereOf = (project_id: number, query: EventQuery, numbers: Numbers) =>
    sql`${sql.and([sql`e.project_id = ${project_id}`, ...conditionsOf(project_id, query, numbers), ...isOfTimes(query)])}${
      query.session === undefined ? sql.literal("") : Bucket.and(sql, Bucket.ofSession(query.session), "e.")
    }`

  const everywhere = ({ limit, order }: EventQuery, where: Statement.Fragment): Found => ({
    rows: sql`SELECT * FROM events e WHERE ${where} ORDER BY e.event_id ${sql.literal(order)} LIMIT ${limit}`,
    count: undefined,
    where
  })

  /** At most `limit` events; undefined if there are none. */
  const find = Effect.fnUntraced(function* (
    project_id: number,
    query: EventQuery
  ): Effect.fn.Return<Found | undefined, SqlError.SqlError> {
    const { limit, session } = query
    const range = rangeOf(query)
    const filter = namesOf(query)
    const numbers = filter === undefined ? {} : yield* numbersOf(project_id, filter)
    if (numbers === undefined) return undefined
    if (Bucket.isDistributed(sql) && (session === undefined || TimeWalks.hasTimes(query))) {
      return everywhere(query, sql`${whereOf(project_id, query, numbers)} AND ${EventStreams.inRange(sql, range)}`)
    }
    const bucket = Bucket.ofSession(session ?? "")
    const walks: ReadonlyArray<Walks.Walk> = filter === undefined ? [Walks.ofAll] : walksOf(project_id, filter, numbers)
    if (TimeWalks.hasTimes(query)) {
      const conditions = filter === undefined ? [] : conditionsOf(project_id, filter, numbers)
      const { ids } = yield* walkDuring(project_id, bucket, query, walks, conditions, limit, Number.POSITIVE_INFINITY)
      return withIds(project_id, bucket, ids)
    }
    if (filter === undefined) return { rows: Walks.ofProject(sql, project_id, range, limit), count: undefined }
    const exact = walks.find(({ conditions }) => conditions.length === 0)
    if (exact !== undefined) return yield* findIn(project_id, bucket, exact.way as EventStreams.Streams, range, limit)
    return withIds(
      project_id,
      bucket,
      (yield* walk(project_id, bucket, walks, range, limit, Number.POSITIVE_INFINITY)).ids
    )
  })

  /** Events that have these fields besides the names; looks at about `maxLooked` events. */
  const findFields = Effect.fnUntraced(function* (
    project_id: number,
    query: EventQuery,
    fields: FieldFilter,
    maxLooked: number
  ): Effect.fn.Return<{ readonly found: Found | undefined; readonly next: EventId | undefined }, SqlError.SqlError> {
    const { limit } = query
    const filter = namesOf(query)
    const numbers = filter === undefined ? {} : yield* numbersOf(project_id, filter)
    if (numbers === undefined) return { found: undefined, next: undefined }
    const bucket = Bucket.ofSession(query.session ?? "")
    const ofNames = filter === undefined ? [] : walksOf(project_id, filter, numbers)
    const conditions = FieldConditions.of(sql, fields)
    const ofEvent = [...(filter === undefined ? [] : conditionsOf(project_id, filter, numbers)), ...conditions]
    const walks: Array<Walks.Walk> = ofNames.map((each) => ({
      ...each,
      conditions: [...each.conditions, ...conditions]
    }))
    const { traceId } = fields
    if (Bucket.isDistributed(sql)) {
      // The nodes look for a trace themselves, as they have an index for it.
      const ofTrace = traceId === undefined ? [] : FieldConditions.of(sql, { traceId })
      const where = sql.and([whereOf(project_id, query, numbers), ...ofTrace])
      walks.splice(0, walks.length, { way: { of: "nodes", where }, conditions: [...conditions] })
    } else if (traceId !== undefined) {
      walks.unshift({ way: { of: "trace", id: traceId }, conditions: ofEvent })
    } else if (walks.length === 0) {
      walks.push({ ...Walks.ofAll, conditions })
    }
    // One more event than requested shows whether there are others.
    const { ids, stoppedAt } =
      TimeWalks.hasTimes(query) && !Bucket.isDistributed(sql)
        ? yield* walkDuring(project_id, bucket, query, walks, ofEvent, limit + 1, maxLooked)
        : yield* walk(project_id, bucket, walks, rangeOf(query), limit + 1, maxLooked)
    const next = ids.length > limit ? ids[limit - 1] : stoppedAt
    return {
      found: withIds(project_id, query.session === undefined ? undefined : bucket, ids.slice(0, limit)),
      next: next === undefined ? undefined : (UuidColumn.decode(next) as EventId)
    }
  })

  return { find, findFields }
}

const given = (...conditions: ReadonlyArray<Statement.Fragment | undefined>) =>
  conditions.filter((condition) => condition !== undefined)
