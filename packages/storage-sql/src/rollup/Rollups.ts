/**
 * The table `rollups`: what events add up to, so that a read costs what it answers. It is derived from `events`, and can be
 * dropped and built anew. A row belongs to one of the series of `Series.ts`. The `position` has one row of a project, with the id up
 * to which its events are in the other rows. A transaction locks this row before it changes others, and counts
 * the change in it.
 *
 * `sums` ends with a checksum of all columns.
 *
 * In a distributed database the rows of a project are on one node.
 */
import { Damage, type EventId, Peaks, RowChecksum, SessionParts, SessionRank, Tally } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import type { CountedEvent } from "./CountedEvent.ts"
import * as Damages from "./Damages.ts"
import * as Series from "./Series.ts"

const keyTypes = {
  series: "smallint",
  session_number: "integer",
  person_number: "integer",
  slot: "integer",
  agent_number: "integer",
  agent_version_number: "integer",
  api: "smallint",
  model: "varchar",
  response_model: "varchar"
} as const satisfies BulkValues.Types

const keyColumns = Object.keys(keyTypes)

const rowTypes = { project_id: "integer", ...keyTypes, last_event: "uuid", last_call: "uuid", sums: "bytea" } as const

type Key = Series.Key

/** The ends of its calls are only those of a session. */
export interface Rollup extends Key, Partial<SessionParts.Ends> {
  readonly tally: Tally
  /** When its slot begins, in epoch milliseconds. */
  readonly atMs: number
}

export type Row = {
  readonly [Column in keyof typeof keyTypes]: Column extends "model" | "response_model" ? string : Integer
} & {
  readonly last_event: UuidColumn.StoredId | null
  readonly last_call: UuidColumn.StoredId | null
  readonly sums: Uint8Array
}

/** What a row has of its last event and its last call, in columns. */
interface Lasts {
  readonly last?: EventId | undefined
  readonly lastCall?: SessionRank.SessionRank | undefined
}

export const selected = (sql: SqlClient.SqlClient, table = ""): Statement.Fragment =>
  sql.literal([...keyColumns, "last_event", "last_call", "sums"].map((column) => `${table}${column}`).join(", "))

/** A key as a text. The length tells where a model ends, which may be any text. */
const nameOf = (key: Key): string =>
  `${key.series} ${key.slot} ${key.session} ${key.agent} ${key.agentVersion} ${key.person} ${key.api} ` +
  `${key.model.length} ${key.model}${key.responseModel}`

/** The same as checksums have it, which may not change. */
const checkedNameOf = (key: Key): string =>
  JSON.stringify([
    ...[key.series, key.slot, key.session, key.agent, key.agentVersion, key.person, key.api],
    ...[key.model, key.responseModel]
  ])

/** All that a row has beside its sums. */
const keyOf = (project_id: number, key: Key, { last, lastCall }: Lasts): string =>
  `${project_id} ${last ?? ""} ${lastCall ?? ""} ${checkedNameOf(key)}`

/** The sums of a row whose checksum is right. Throws `Damage` if it is not. */
export const sumsOf = (
  project_id: number,
  key: Key,
  { last_call, last_event, sums }: Pick<Row, "last_event" | "last_call" | "sums">
): Lasts & { readonly sums: Uint8Array } => {
  const last = last_event === null ? undefined : (UuidColumn.decode(last_event) as EventId)
  const lastCall = last_call === null ? undefined : (UuidColumn.decode(last_call) as SessionRank.SessionRank)
  return { last, lastCall, sums: RowChecksum.verified(keyOf(project_id, key, { last, lastCall }), sums) }
}

/** Throws `Damage` if the row is not what was written. */
export const of = (project_id: number, row: Row): Rollup => {
  const key: Key = {
    series: Number(row.series),
    slot: Number(row.slot),
    session: Number(row.session_number),
    agent: Number(row.agent_number),
    agentVersion: Number(row.agent_version_number),
    person: Number(row.person_number),
    api: Number(row.api),
    model: row.model,
    responseModel: row.response_model
  }
  const isOfSession = key.series === Series.session
  const { last, lastCall, sums } = sumsOf(project_id, key, row)
  const { first, tally } = Tally.fromBytes(sums, isOfSession)
  const rollup = { ...key, tally, atMs: key.slot * Series.slotMs }
  if (!isOfSession) return rollup
  if (last === undefined || lastCall === undefined) throw new Damage("A row of a session does not have its last event")
  return { ...rollup, ...first!, last, lastMs: SessionRank.msOf(lastCall) }
}

/** The ends of a row of a session. */
export const endsOf = ({ first, firstMs, last, lastMs, peaks }: Rollup): SessionParts.Ends | undefined =>
  first === undefined || firstMs === undefined || last === undefined || lastMs === undefined || peaks === undefined
    ? undefined
    : { first, firstMs, last, lastMs, peaks }

/** The ends of two rows of a session together, or nothing of other rows. */
export const joined = (a: Rollup | undefined, b: SessionParts.Ends | undefined): Partial<SessionParts.Ends> =>
  b === undefined ? {} : SessionParts.joined(a && endsOf(a), b)

/** Undefined if the bytes are not what was written. */
export const tryOf = (project_id: number, row: Row): Rollup | undefined => {
  try {
    return of(project_id, row)
  } catch {
    return undefined
  }
}

export const positionKey: Key = { series: Series.position, ...Series.noNames }

/** Events that count in the same rows of times: the first of them, and all of them together. */
interface Group {
  readonly event: CountedEvent
  readonly tally: Tally
}

/** Groups that are kept until they are added to rows. */
const maxGroups = 1_000

/** Adds events up in groups and in rows of sessions, and the groups in the rows of times: in those that are wanted. */
export const sums = (isWanted: (key: Key) => boolean) => {
  const groups = new Map<string, Group>()
  const rollups = new Map<string, Rollup>()

  const rollupOf = (key: Key): Rollup => {
    const name = nameOf(key)
    const found = rollups.get(name)
    if (found !== undefined) return found
    const rollup = { ...key, tally: new Tally(), atMs: key.slot * Series.slotMs }
    rollups.set(name, rollup)
    return rollup
  }

  const addGroups = (): void => {
    for (const { event, tally } of groups.values()) {
      for (const key of Series.keysOfTimes(event)) if (isWanted(key)) rollupOf(key).tally.merge(tally)
    }
    groups.clear()
  }

  const addToSession = (event: CountedEvent, key: Key): void => {
    const found = rollupOf(key)
    found.tally.add(event)
    rollups.set(nameOf(key), { ...found, ...joined(found, SessionParts.endsOf(event)) })
  }

  const addToGroup = (event: CountedEvent): void => {
    const name = nameOf(Series.keyOfQuarter(event))
    const group = groups.get(name) ?? { event, tally: new Tally() }
    group.tally.add(event)
    groups.set(name, group)
    if (groups.size >= maxGroups) addGroups()
  }

  return {
    add: (event: CountedEvent): void => {
      const ofSession = Series.keyOfSession(event)
      if (isWanted(ofSession)) addToSession(event, ofSession)
      addToGroup(event)
    },
    /** By their names, of all that was added until now. */
    rollups: (): ReadonlyMap<string, Rollup> => {
      addGroups()
      return rollups
    }
  }
}

/** To all of them. */
export const add = (events: Iterable<CountedEvent>): ReadonlyMap<string, Rollup> => {
  const { add: addEvent, rollups } = sums(() => true)
  for (const event of events) addEvent(event)
  return rollups()
}

/** Whether two rows say the same of where their calls begin and end, and of their largest figures. */
export const haveSameEnds = (a: Rollup, b: Rollup): boolean =>
  a.first === b.first &&
  a.firstMs === b.firstMs &&
  a.last === b.last &&
  a.lastMs === b.lastMs &&
  Peaks.areSame(a.peaks ?? Peaks.none, b.peaks ?? Peaks.none)

export const make = (sql: SqlClient.SqlClient) => {
  const toStored = UuidColumn.encoder(sql)
  const keys = BulkValues.make(sql, BulkValues.named(keyTypes))
  const rows = BulkValues.make(sql, BulkValues.named({ ...rowTypes, ...Bucket.types(sql) }))
  const bucketOf = (project_id: number) => Bucket.ofNumber(project_id)
  const ofProject = (project_id: number, table = "") =>
    sql`${sql.literal(`${table}project_id`)} = ${project_id}${Bucket.and(sql, bucketOf(project_id), table)}`
  const isSame = (table: string, other: string) =>
    sql.literal(keyColumns.map((column) => `${table}.${column} = ${other}.${column}`).join(" AND "))

  const columnsOf = ({ agent, agentVersion, api, model, person, responseModel, series, session, slot }: Key) => ({
    series,
    slot,
    session_number: session,
    agent_number: agent,
    agent_version_number: agentVersion,
    person_number: person,
    api,
    model,
    response_model: responseModel
  })

  const readRows = Effect.fnUntraced(function* (project_id: number, wanted: ReadonlyArray<Key>) {
    const found: Array<Row> = []
    const columns = selected(sql, "r.")
    const condition = sql`${ofProject(project_id, "r.")} AND ${isSame("r", "wanted")}`
    for (const chunk of BulkValues.chunks(wanted)) {
      found.push(
        // Joined otherwise, Postgres would compare all rows of the project with each other until it has statistics of them.
        ...(yield* sql<Row>`WITH wanted ${keys.names} AS (${keys.of(chunk.map(columnsOf))})
          SELECT ${columns} FROM wanted ${Dialects.of(sql).joinEach("rollups", "r", columns, condition)}`)
      )
    }
    return found
  })

  const named = (rollups: ReadonlyArray<Rollup>) => new Map(rollups.map((rollup) => [nameOf(rollup), rollup]))

  /** Those of the rows that exist, by their names. */
  const read = (project_id: number, wanted: ReadonlyArray<Key>) =>
    Effect.flatMap(readRows(project_id, wanted), (rows) =>
      Damages.readable(() => named(rows.map((row) => of(project_id, row))))
    )

  /** Those of them that are not damaged. */
  const readIntact = (project_id: number, wanted: ReadonlyArray<Key>) =>
    Effect.map(readRows(project_id, wanted), (rows) => named(rows.flatMap((row) => tryOf(project_id, row) ?? [])))

  const toInsert = (project_id: number, key: Key, lasts: Lasts, sums: Uint8Array) => ({
    project_id,
    ...columnsOf(key),
    last_event: lasts.last === undefined ? null : toStored(lasts.last),
    last_call: lasts.lastCall === undefined ? null : toStored(lasts.lastCall),
    sums: RowChecksum.append(keyOf(project_id, key, lasts), sums),
    bucket: bucketOf(project_id)
  })

  const conflict = sql`ON CONFLICT (${sql.literal(`project_id, ${keyColumns.join(", ")}`)}${Bucket.andColumn(sql)})`

  const put = (inserted: ReadonlyArray<ReturnType<typeof toInsert>>) =>
    Effect.forEach(
      BulkValues.chunks(inserted),
      (chunk) => sql`INSERT INTO rollups ${rows.names} ${rows.toInsert(chunk)}
        ${conflict} DO UPDATE SET last_event = excluded.last_event, last_call = excluded.last_call, sums = excluded.sums`,
      { discard: true }
    )

  /** Leaves a row that exists. */
  const putNew = (row: ReturnType<typeof toInsert>) =>
    sql`INSERT INTO rollups ${rows.names} ${rows.toInsert([row])} ${conflict} DO NOTHING`

  const write = (project_id: number, rollups: ReadonlyArray<Rollup>) =>
    put(
      rollups.map((rollup) => {
        const { last, lastMs, session, tally } = rollup
        const lastCall = lastMs === undefined ? undefined : SessionRank.of(lastMs, session)
        return toInsert(project_id, rollup, { last, lastCall }, tally.toBytes(endsOf(rollup)))
      })
    )

  const remove = (project_id: number, removed: ReadonlyArray<Key>) =>
    Effect.forEach(
      BulkValues.chunks(removed),
      (chunk) => sql`WITH removed ${keys.names} AS (${keys.of(chunk.map(columnsOf))})
        DELETE FROM rollups WHERE ${ofProject(project_id)}
          AND (${sql.literal(keyColumns.join(", "))}) IN (SELECT * FROM removed)`,
      { discard: true }
    )

  return { ofProject, put, putNew, read, readIntact, remove, toInsert, write, nameOf }
}
