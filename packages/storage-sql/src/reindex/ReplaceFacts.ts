/** Replaces the facts and costs of stored events by those of newer rules. */
import type { EventId, FactsChange, ProjectId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as BulkValues from "../dialect/BulkValues.ts"
import * as Locks from "../dialect/Locks.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as EventKinds from "../names/EventKinds.ts"
import * as NodeCopies from "../names/NodeCopies.ts"
import * as Projects from "../names/Projects.ts"
import * as EventColumns from "../sql/EventColumns.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import * as CountedEvent from "../rollup/CountedEvent.ts"
import type * as Derivation from "../rollup/Derivation.ts"
import * as SpaceCounters from "../space/SpaceCounters.ts"

interface StoredRow extends CountedEvent.Row {
  readonly summary_checksum: Integer
  /** Null if they are damaged. */
  readonly rules: string | null
}

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects, derivation: Derivation.Derivation) => {
  const toStored = UuidColumn.encoder(sql)
  const kinds = EventKinds.make(sql)
  const copies = NodeCopies.make(sql)
  const space = SpaceCounters.make(sql, projects)
  const factColumns = EventColumns.factColumns(sql)
  const columns = BulkValues.make(sql, factColumns)
  const assignments = sql.literal(
    Object.keys(factColumns)
      .filter((column) => column !== "event_id")
      .map((column) => `${column} = changed.${column}`)
      .join(", ")
  )

  const replaceIn = Effect.fnUntraced(function* (
    project_id: number,
    session: number,
    rules: string,
    changes: ReadonlyArray<EventColumns.ChangedFacts & Pick<FactsChange, "was">>
  ) {
    const bucket = Bucket.ofNumber(session)
    const position = yield* derivation.lock(project_id)
    // Excludes appends to the session and erasures from it: all of these lock rows of events and counters after it.
    const locked = yield* sql`SELECT session_number FROM sessions
      WHERE ${Bucket.isOfSession(sql, project_id, session)} ${Locks.update(sql)}`
    if (locked.length === 0) return 0
    const ids = changes.map(({ summary }) => toStored(summary.id))
    const stored = yield* sql<StoredRow>`SELECT e.*, ek.rules FROM events e
      LEFT JOIN event_kinds ek ON ek.project_id = e.project_id AND ek.kind_number = e.kind_number
      WHERE e.project_id = ${project_id} AND e.session_number = ${session}
        AND ${BulkValues.isAmong(sql, "e.event_id", "uuid", ids)}${Bucket.and(sql, bucket, "e.")}`
    const rows = new Map(stored.map((row) => [UuidColumn.decode(row.event_id) as EventId, row]))
    const increments = new SpaceCounters.Increments(sql)
    const replaced: Array<StoredRow> = []
    const changed = changes.filter(({ summary, was }) => {
      const row = rows.get(summary.id)
      if (row === undefined || Number(row.summary_checksum) !== was || row.rules === rules) return false
      replaced.push(row)
      const counted = { agent_number: Number(row.agent_number), bucket }
      increments.addToAgent({ ...counted, rules: row.rules ?? "" }, { entries: -1 })
      increments.addToAgent({ ...counted, rules }, { entries: 1 })
      return true
    })
    if (changed.length === 0) return 0
    yield* copies.checkKinds(
      project_id,
      session,
      changed.map(({ kind_number }) => kind_number)
    )
    yield* sql`WITH changed ${columns.names} AS (${columns.of(changed)}) UPDATE events SET ${assignments} FROM changed
      WHERE events.project_id = ${project_id} AND events.event_id = changed.event_id${Bucket.and(sql, bucket, "events.")}`
    const before = yield* derivation.toCounted(project_id, replaced)
    const next = yield* derivation.afterErasure(project_id, position, before)
    yield* derivation.afterAppend(project_id, next, yield* countedOf(project_id, bucket, replaced))
    yield* space.add(project_id, increments)
    return changed.length
  })

  /** As they are stored now. */
  const countedOf = Effect.fnUntraced(function* (
    project_id: number,
    bucket: number,
    events: ReadonlyArray<CountedEvent.Row>
  ) {
    const ids = events.map(({ event_id }) => event_id)
    const rows = yield* sql<CountedEvent.Row>`SELECT ${CountedEvent.selected(sql)} FROM events
      WHERE project_id = ${project_id} AND ${BulkValues.isAmong(sql, "event_id", "uuid", ids)}${Bucket.and(sql, bucket)}`
    return yield* derivation.toCounted(project_id, rows)
  })

  const replaceFacts = Effect.fn("SqlStorage.replaceFacts")(function* (
    project: ProjectId,
    session: number,
    rules: string,
    changes: ReadonlyArray<FactsChange>
  ) {
    const project_id = yield* projects.find(project)
    if (project_id === Projects.none || changes.length === 0) return 0
    const numbers = yield* kinds.ensureAll(
      project_id,
      changes.map(({ summary }) => ({ summary, rules }))
    )
    const numbered = changes.map((change, n) => ({ ...change, kind_number: numbers[n]! }))
    let replaced = 0
    for (const chunk of BulkValues.chunks(numbered)) {
      replaced += yield* TwoPhaseCommit.transaction(sql, replaceIn(project_id, session, rules, chunk))
    }
    return replaced
  })

  return { replaceFacts }
}
