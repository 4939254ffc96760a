/**
 * Finds the events of a session, an agent, a version or a person, or of several of these, or of a time, in the order of their ids. Reads
 * about as much as it finds, however many events the project has; `docs/storage.md` says what each combination costs.
 */
import type { EventId, EventQuery, FieldFilter, TraceId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as CallTimes from "../dialect/CallTimes.ts"
import * as EventIndex from "../dialect/EventIndex.ts"
import * as RowsByName from "../dialect/RowsByName.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as Attempts from "../sql/Attempts.ts"
import * as FieldConditions from "./FieldConditions.ts"
import * as EventStreams from "./EventStreams.ts"

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

/** Where the events of a walk are: in streams, in the index by trace, or anywhere in the project. */
type Way =
  | EventStreams.Streams
  | { readonly of: "trace"; readonly id: TraceId }
  | { readonly of: "project" }
  /** In the index of those that were recorded long before or after their calls. */
  | { readonly of: "distant" }
  /** On all nodes of a distributed database; not for `begin`. */
  | { readonly of: "nodes"; readonly where: Statement.Fragment }

/** A way along all events that are looked for, and the conditions for those that are. */
interface Walk {
  readonly way: Way
  readonly conditions: ReadonlyArray<Statement.Fragment>
}

/** What walks have found. */
interface Walked {
  readonly ids: ReadonlyArray<UuidColumn.StoredId>
  /** Where to go on, if they have looked at as many events as they may. */
  readonly stoppedAt: UuidColumn.StoredId | undefined
}

/** Events whose calls are distant that one statement puts into the order of their ids, however many are between them. */
const maxSorted = 1_000

/** Events of a walk that one statement reads: at first, and at most. */
const firstStep = 256
const maxStep = 2048

export const make = (sql: SqlClient.SqlClient) => {
  const toStored = UuidColumn.encoder(sql)

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
  ): ReadonlyArray<Walk> => {
    const isOfSession = session === undefined ? undefined : sql`e.session_number = ${session}`
    const isOfPerson = person === undefined ? undefined : sql`e.person_number = ${person}`
    const isOfVersion = agentVersion === undefined ? undefined : isOf(project_id, agentVersion)
    const walks: Array<Walk> = []
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
    return { rows: RowsByName.select(sql, selection, ids), count: ids.length }
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
      if (!isBeyond(ids.at(-1), before, range.order)) yield* attempt
      merge = yield* begin(streams, { ...range, after: ids.at(-1) ?? range.after })
    }
    return withIds(project_id, bucket, ids)
  })

  /** The rows of the next events on a way, in order, and whether there are others that begin after them. */
  const begin = Effect.fnUntraced(function* (
    project_id: number,
    bucket: number,
    way: Exclude<Way, { readonly of: "nodes" }>,
    range: EventStreams.Range,
    limit: number
  ) {
    const { begin, rows } = EventStreams.make(sql, project_id, bucket)
    if (way.of === "project") return { rows: ofProject(project_id, range, limit), isBounded: false }
    if (way.of === "trace" || way.of === "distant") {
      const [index, condition] =
        way.of === "distant"
          ? (["events_by_distant_id", sql`e.distant_at IS NOT NULL`] as const)
          : (["events_by_trace", FieldConditions.of(sql, { traceId: way.id })[0]!] as const)
      const query = sql`SELECT e.* FROM events e ${EventIndex.hint(sql, index)}
        WHERE e.project_id = ${project_id} AND ${condition} AND ${EventStreams.inRange(sql, range)}`
      return { rows: EventIndex.merged(sql, [query], range.order, limit), isBounded: false }
    }
    const merge = yield* begin(way, range)
    return merge && { rows: rows(merge, limit), isBounded: merge.isBounded }
  })

  const ofProject = (project_id: number, range: EventStreams.Range, limit: number) =>
    sql`SELECT * FROM events e WHERE e.project_id = ${project_id}
      AND ${EventStreams.inRange(sql, range)} ORDER BY e.event_id ${sql.literal(range.order)} LIMIT ${limit}`

  /** A column. */
  const isWanted = (conditions: ReadonlyArray<Statement.Fragment>) =>
    sql`CASE WHEN ${conditions.length === 0 ? sql.literal("1 = 1") : sql.and(conditions)} THEN 1 ELSE 0 END AS is_wanted`

  /** The next events of a walk: how many there were, the last one, and those which are wanted. */
  const step = Effect.fnUntraced(function* (
    project_id: number,
    bucket: number,
    { conditions, way }: Walk,
    range: EventStreams.Range,
    limit: number
  ) {
    const selected = sql`SELECT e.event_id, ${isWanted(conditions)}`
    const ordered = sql`ORDER BY e.event_id ${sql.literal(range.order)}`
    const next =
      way.of === "nodes"
        ? {
            statement: sql`${selected} FROM events e WHERE ${way.where} AND ${EventStreams.inRange(sql, range)}
              ${ordered} LIMIT ${limit}`,
            isBounded: false
          }
        : yield* Effect.map(
            begin(project_id, bucket, way, range, limit),
            (rest) =>
              rest && { statement: sql`${selected} FROM (${rest.rows}) AS e ${ordered}`, isBounded: rest.isBounded }
          )
    if (next === undefined) return { wanted: [], looked: 0, last: range.after, isEnd: true }
    const found = yield* sql<{ event_id: UuidColumn.StoredId; is_wanted: number }>`${next.statement}`
    return {
      wanted: found.filter(({ is_wanted }) => is_wanted === 1).map(({ event_id }) => event_id),
      looked: found.length,
      last: found.at(-1)?.event_id ?? range.after,
      isEnd: found.length < limit && !next.isBounded
    }
  })

  /** Takes the walks in turns, until one of them has found all, or has looked at `maxLooked` events. */
  const walk = Effect.fnUntraced(function* (
    project_id: number,
    bucket: number,
    walks: ReadonlyArray<Walk>,
    range: EventStreams.Range,
    limit: number,
    maxLooked: number
  ): Effect.fn.Return<Walked, SqlError.SqlError> {
    const attempt = Attempts.make("A list of events")
    const states = walks.map((walk) => ({ walk, after: range.after, looked: 0, ids: [] as Array<UuidColumn.StoredId> }))
    for (let events = firstStep; ; events = Math.min(2 * events, maxStep)) {
      for (const state of states) {
        const allowed = Math.min(events, maxLooked - state.looked)
        const at = { ...range, after: state.after }
        const { isEnd, last, looked, wanted } = yield* step(project_id, bucket, state.walk, at, allowed)
        if (!isBeyond(last, state.after, range.order)) yield* attempt
        state.after = last
        state.looked += looked
        for (const id of wanted) state.ids.push(id)
        if (isEnd || state.ids.length >= limit) return { ids: state.ids.slice(0, limit), stoppedAt: undefined }
        if (state.looked >= maxLooked) return { ids: state.ids, stoppedAt: last }
        // SQLite runs a statement at once.
        yield* Effect.yieldNow
      }
    }
  })

  /** The events of a walk whose calls are distant from their ids, if there are few of this time. */
  const sortDistant = Effect.fnUntraced(function* (
    project_id: number,
    times: CallTimes.Times,
    conditions: ReadonlyArray<Statement.Fragment>,
    { after, before, order }: EventStreams.Range
  ): Effect.fn.Return<ReadonlyArray<UuidColumn.StoredId> | undefined, SqlError.SqlError> {
    const found = yield* sql<{ event_id: UuidColumn.StoredId; is_wanted: number }>`
      SELECT e.event_id, ${isWanted(conditions)} FROM (SELECT e.* FROM events e
        WHERE e.project_id = ${project_id} AND ${CallTimes.isDistantDuring(sql, times)}
        ORDER BY e.distant_at, e.event_id LIMIT ${maxSorted + 1}) AS e
      ORDER BY e.event_id ${sql.literal(order)}`
    if (found.length > maxSorted) return undefined
    return found.flatMap(({ event_id, is_wanted }) => {
      const isInRange =
        (after === undefined || isBeyond(event_id, after, order)) &&
        (before === undefined || isBeyond(before, event_id, order))
      return is_wanted === 1 && isInRange ? [event_id] : []
    })
  })

  /**
   * The events of a time of calls: those that were recorded near it, along the walks, and those that were recorded long before or after
   * their calls, in one order. `conditions` are those of all walks, for an event of the project.
   */
  const walkDuring = Effect.fnUntraced(function* (
    project_id: number,
    bucket: number,
    query: EventQuery,
    walks: ReadonlyArray<Walk>,
    conditions: ReadonlyArray<Statement.Fragment>,
    limit: number,
    maxLooked: number
  ): Effect.fn.Return<Walked, SqlError.SqlError> {
    const and = (condition: Statement.Fragment) => (each: Walk) => ({
      ...each,
      conditions: [...each.conditions, condition]
    })
    const isNear = sql`e.distant_at IS NULL AND ${CallTimes.isDuring(sql, query)}`
    const nearRange = rangeOf(nearby(query))
    const near = yield* walk(project_id, bucket, walks.map(and(isNear)), nearRange, limit, maxLooked)
    const range = rangeOf(query)
    const sorted = yield* sortDistant(project_id, query, conditions, range)
    if (sorted !== undefined) return mergeWalked([near, { ids: sorted, stoppedAt: undefined }], query.order, limit)
    const ways = [{ way: { of: "distant" } as const, conditions }, ...walks.filter(({ way }) => way.of !== "project")]
    const isDistant = CallTimes.isDistantDuring(sql, query)
    const distant = yield* walk(project_id, bucket, ways.map(and(isDistant)), range, limit, maxLooked)
    return mergeWalked([near, distant], query.order, limit)
  })

  /** On the nodes of a distributed database, which look for these events themselves. */
  const isOfTimes = (query: EventQuery): ReadonlyArray<Statement.Fragment> => {
    if (!hasTimes(query)) return []
    const { after, before, order } = rangeOf({ ...CallTimes.nearIds(query), order: "asc", limit: 1 })
    const ids = EventStreams.inRange(sql, { after, before, order })
    return [
      sql`((e.distant_at IS NULL AND ${ids} AND ${CallTimes.isDuring(sql, query)})
        OR ${CallTimes.isDistantDuring(sql, query)})`
    ]
  }

  const rangeOf = ({ above, after, below, order }: EventQuery): EventStreams.Range => {
    const [begin, end] = order === "asc" ? [above, below] : [below, above]
    const from =
      after === undefined || (begin !== undefined && (order === "asc" ? begin > after : begin < after)) ? begin : after
    return { order, after: from && toStored(from), before: end && toStored(end) }
  }

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
    if (Bucket.isDistributed(sql) && (session === undefined || hasTimes(query))) {
      return everywhere(query, sql`${whereOf(project_id, query, numbers)} AND ${EventStreams.inRange(sql, range)}`)
    }
    const bucket = Bucket.ofSession(session ?? "")
    const walks: ReadonlyArray<Walk> = filter === undefined ? [ofAll] : walksOf(project_id, filter, numbers)
    if (hasTimes(query)) {
      const conditions = filter === undefined ? [] : conditionsOf(project_id, filter, numbers)
      const { ids } = yield* walkDuring(project_id, bucket, query, walks, conditions, limit, Number.POSITIVE_INFINITY)
      return withIds(project_id, bucket, ids)
    }
    if (filter === undefined) return { rows: ofProject(project_id, range, limit), count: undefined }
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
    const walks: Array<Walk> = ofNames.map((each) => ({ ...each, conditions: [...each.conditions, ...conditions] }))
    const { traceId } = fields
    if (Bucket.isDistributed(sql)) {
      // The nodes look for a trace themselves, as they have an index for it.
      const ofTrace = traceId === undefined ? [] : FieldConditions.of(sql, { traceId })
      const where = sql.and([whereOf(project_id, query, numbers), ...ofTrace])
      walks.splice(0, walks.length, { way: { of: "nodes", where }, conditions: [...conditions] })
    } else if (traceId !== undefined) {
      walks.unshift({ way: { of: "trace", id: traceId }, conditions: ofEvent })
    } else if (walks.length === 0) {
      walks.push({ ...ofAll, conditions })
    }
    // One more event than requested shows whether there are others.
    const { ids, stoppedAt } =
      hasTimes(query) && !Bucket.isDistributed(sql)
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

const ofAll: Walk = { way: { of: "project" }, conditions: [] }

const hasTimes = ({ fromMs, toMs }: EventQuery): boolean => fromMs !== undefined || toMs !== undefined

/** The query for the ids alone of which the events are near their calls. */
const nearby = (query: EventQuery): EventQuery => {
  const { above, below } = CallTimes.nearIds(query)
  return {
    ...query,
    above: above === undefined || (query.above !== undefined && query.above > above) ? query.above : above,
    below: below === undefined || (query.below !== undefined && query.below < below) ? query.below : below
  }
}

/** Several walks for events of one list, up to the first place at which one of them has stopped. */
const mergeWalked = (walked: ReadonlyArray<Walked>, order: EventQuery["order"], limit: number): Walked => {
  const byOrder = (a: UuidColumn.StoredId, b: UuidColumn.StoredId) => (isBeyond(a, b, order) ? 1 : -1)
  const [stoppedAt] = walked.flatMap((each) => each.stoppedAt ?? []).sort(byOrder)
  const ids = walked
    .flatMap((each) => each.ids)
    .filter((id) => stoppedAt === undefined || !isBeyond(id, stoppedAt, order))
    .sort(byOrder)
  return { ids: ids.slice(0, limit), stoppedAt: ids.length >= limit ? undefined : stoppedAt }
}

const given = (...conditions: ReadonlyArray<Statement.Fragment | undefined>) =>
  conditions.filter((condition) => condition !== undefined)

/** Whether a step has led to a later event, in this order. */
const isBeyond = (
  id: UuidColumn.StoredId | undefined,
  before: UuidColumn.StoredId | undefined,
  order: EventQuery["order"]
): boolean => {
  if (id === undefined || before === undefined) return id !== undefined
  const [a, b] = [UuidColumn.decode(id), UuidColumn.decode(before)]
  return order === "asc" ? a > b : a < b
}
