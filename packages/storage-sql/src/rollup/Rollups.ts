/**
 * The table `rollups`: what events add up to, so that a read costs what it answers. It is derived from `events`, and can be
 * dropped and built anew. A row belongs to one of these series:
 *
 * - `position`: one row of a project, with the id up to which its events are in the other rows. Whoever changes the others has
 *   locked it, and counts the change in it.
 * - `session`: a row for the calls of a session that have the same names.
 * - `quarter`: a row for the calls of a quarter of an hour that have the same names.
 * - `hour`, `day`: the same of hours and days of UTC, for all people together.
 *
 * In a distributed database the rows of a project are on one node.
 */
import { Damage, type EventId, Tally } from "@tachograph/core"
import { Effect } from "effect"
import { type SqlClient, SqlError, type Statement } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import type { CountedBy, CountedEvent } from "./CountedEvents.ts"

export const series = { position: 0, session: 1, quarter: 2, hour: 3, day: 4 } as const

/** A slot is a quarter of an hour, by its number since 1970. Hours and days are named by their first slot. */
export const slotMs = 15 * 60_000
export const slotsOf = { hour: 4, day: 96 } as const

const keyTypes = {
  series: "smallint",
  slot: "integer",
  session_number: "integer",
  agent_number: "integer",
  agent_version_number: "integer",
  person_number: "integer",
  api: "smallint",
  model: "varchar",
  response_model: "varchar"
} as const satisfies BulkValues.Types

const keyColumns = Object.keys(keyTypes)

const rowTypes = { project_id: "integer", ...keyTypes, last_event: "uuid", sums: "bytea" } as const

interface Key extends CountedBy {
  readonly series: number
  readonly slot: number
}

export interface Rollup extends Key {
  /** Of a session only: the first and the last of the events. */
  readonly first: EventId | undefined
  readonly last: EventId | undefined
  readonly tally: Tally
  /** When its slot begins, in epoch milliseconds. */
  readonly atMs: number
}

export type Row = {
  readonly [Column in keyof typeof keyTypes]: Column extends "model" | "response_model" ? string : Integer
} & { readonly last_event: UuidColumn.StoredId | null; readonly sums: Uint8Array }

export const selected = (sql: SqlClient.SqlClient, table = ""): Statement.Fragment =>
  sql.literal([...keyColumns, "last_event", "sums"].map((column) => `${table}${column}`).join(", "))

/** Throws `Damage` if the bytes are not what was written. */
export const of = (row: Row): Rollup => {
  const { id: first, tally } = Tally.fromBytes(row.sums, Number(row.series) === series.session)
  return {
    series: Number(row.series),
    slot: Number(row.slot),
    session: Number(row.session_number),
    agent: Number(row.agent_number),
    agentVersion: Number(row.agent_version_number),
    person: Number(row.person_number),
    api: Number(row.api),
    model: row.model,
    responseModel: row.response_model,
    first,
    last: row.last_event === null ? undefined : (UuidColumn.decode(row.last_event) as EventId),
    tally,
    atMs: Number(row.slot) * slotMs
  }
}

/** Damage is an error of the storage, which `tachograph reindex` repairs. */
export const readable = <A>(read: () => A): Effect.Effect<A, SqlError.SqlError> =>
  Effect.try({
    try: read,
    catch: (error) => {
      const cause = Damage.of(error)
      const { message } = cause
      return new SqlError.SqlError({
        reason: new SqlError.ConnectionError({ cause, message, operation: "execute" })
      })
    }
  })

const noNames = { slot: 0, session: 0, agent: 0, agentVersion: 0, person: 0, api: 0, model: "", responseModel: "" }

export const positionKey: Key = { series: series.position, ...noNames }

/** The rows that an event counts in. */
const keysOf = ({ agent, agentVersion, api, atMs, model, person, responseModel, session }: CountedEvent) => {
  const names = { agent, agentVersion, model, responseModel }
  const slot = Math.floor(atMs / slotMs)
  return [
    { ...noNames, ...names, series: series.session, session, person },
    { ...noNames, ...names, series: series.quarter, slot, person, api },
    { ...noNames, ...names, series: series.hour, slot: slot - (slot % slotsOf.hour), api },
    { ...noNames, ...names, series: series.day, slot: slot - (slot % slotsOf.day), api }
  ] satisfies ReadonlyArray<Key>
}

const nameOf = (key: Key): string =>
  JSON.stringify([
    ...[key.series, key.slot, key.session, key.agent, key.agentVersion, key.person, key.api],
    ...[key.model, key.responseModel]
  ])

/** Adds events up, to the rows that they count in. */
export const add = (events: Iterable<CountedEvent>): ReadonlyMap<string, Rollup> => {
  const rollups = new Map<string, Rollup>()
  for (const event of events) {
    for (const key of keysOf(event)) {
      const name = nameOf(key)
      const found = rollups.get(name)
      const isOfSession = key.series === series.session
      const rollup: Rollup = {
        ...key,
        first: isOfSession ? earlier(found?.first, event.id) : undefined,
        last: isOfSession ? later(found?.last, event.id) : undefined,
        tally: found?.tally ?? new Tally(),
        atMs: key.slot * slotMs
      }
      rollup.tally.add(event)
      rollups.set(name, rollup)
    }
  }
  return rollups
}

export const earlier = (a: EventId | undefined, b: EventId): EventId => (a === undefined || b < a ? b : a)
export const later = (a: EventId | undefined, b: EventId): EventId => (a === undefined || b > a ? b : a)

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

  /** Those of the rows that exist, by their names. */
  const read = Effect.fnUntraced(function* (project_id: number, wanted: ReadonlyArray<Key>) {
    const found = new Map<string, Rollup>()
    for (const chunk of BulkValues.chunks(wanted)) {
      const existing = yield* sql<Row>`WITH wanted ${keys.names} AS (${keys.of(chunk.map(columnsOf))})
        SELECT ${selected(sql, "r.")} FROM wanted JOIN rollups r ON ${isSame("r", "wanted")}
        WHERE ${ofProject(project_id, "r.")}`
      for (const row of existing) {
        const rollup = yield* readable(() => of(row))
        found.set(nameOf(rollup), rollup)
      }
    }
    return found
  })

  const toInsert = (project_id: number, key: Key, last: EventId | undefined, sums: Uint8Array) => ({
    project_id,
    ...columnsOf(key),
    last_event: last === undefined ? null : toStored(last),
    sums,
    bucket: bucketOf(project_id)
  })

  const put = (inserted: ReadonlyArray<ReturnType<typeof toInsert>>) =>
    Effect.forEach(
      BulkValues.chunks(inserted),
      (chunk) => sql`INSERT INTO rollups ${rows.names} ${rows.toInsert(chunk)}
        ON CONFLICT (${sql.literal(`project_id, ${keyColumns.join(", ")}`)}${Bucket.andColumn(sql)})
        DO UPDATE SET last_event = excluded.last_event, sums = excluded.sums`,
      { discard: true }
    )

  const write = (project_id: number, rollups: ReadonlyArray<Rollup>) =>
    put(rollups.map((rollup) => toInsert(project_id, rollup, rollup.last, rollup.tally.toBytes(rollup.first))))

  const remove = (project_id: number, removed: ReadonlyArray<Key>) =>
    Effect.forEach(
      BulkValues.chunks(removed),
      (chunk) => sql`WITH removed ${keys.names} AS (${keys.of(chunk.map(columnsOf))})
        DELETE FROM rollups WHERE ${ofProject(project_id)}
          AND (${sql.literal(keyColumns.join(", "))}) IN (SELECT * FROM removed)`,
      { discard: true }
    )

  return { ofProject, put, read, remove, toInsert, write, nameOf }
}
