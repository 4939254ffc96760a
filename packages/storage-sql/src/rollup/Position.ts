/**
 * Up to which event the rows of `rollups` say what events add up to. Every change of the rows changes `version` in the same
 * transaction, so that a read of several statements knows whether it has seen one state of them.
 */
import { Damage, type EventId, firstIdOf } from "@tachograph/core"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Locks from "../dialect/Locks.ts"
import * as UuidColumn from "../dialect/UuidColumn.ts"
import * as Attempts from "../sql/Attempts.ts"
import * as Rollups from "./Rollups.ts"
import * as Series from "./Series.ts"

export interface Position {
  /** The last event that is in the rows; less than any if none is. */
  readonly last: EventId
  readonly version: number
}

/** Less than any event. */
const none = firstIdOf(0)

type Row = Pick<Rollups.Row, "last_event" | "sums">

const sumsOf = (version: number): Uint8Array => new Uint8Array(Float64Array.of(version).buffer)

const versionIn = (sums: Uint8Array): number => {
  if (sums.length !== 8) throw new Damage("A position does not have the length that it should have")
  return new Float64Array(Uint8Array.from(sums).buffer)[0]!
}

export const of = (row: Row | undefined): Position =>
  row === undefined
    ? { last: none, version: 0 }
    : {
        last: row.last_event === null ? none : (UuidColumn.decode(row.last_event) as EventId),
        version: versionIn(row.sums)
      }

export const make = (sql: SqlClient.SqlClient) => {
  const rollups = Rollups.make(sql)
  const isPosition = (project_id: number) => sql`${rollups.ofProject(project_id)} AND series = ${Series.position}`

  const select = Effect.fnUntraced(function* (project_id: number, lock = sql.literal("")) {
    const [row] = yield* sql<Row>`SELECT last_event, sums FROM rollups WHERE ${isPosition(project_id)} ${lock}`
    return row && (yield* Rollups.readable(() => of(row)))
  })

  const read = (project_id: number) => Effect.map(select(project_id), (position) => position ?? of(undefined))

  const put = (project_id: number, { last, version }: Position) =>
    rollups.put([rollups.toInsert(project_id, Rollups.positionKey, last, sumsOf(version))])

  /** In a transaction: nobody else changes the rows until its end. Undefined if there are none. */
  const lock = (project_id: number) => select(project_id, Locks.update(sql))

  /** Undefined if another transaction has the lock. Creates the row if there is none. */
  const tryLock = Effect.fnUntraced(function* (project_id: number) {
    const locked = yield* select(project_id, Locks.updateSkipLocked(sql))
    if (locked !== undefined) return locked
    const isThere = (yield* select(project_id)) !== undefined
    if (isThere) return undefined
    yield* put(project_id, of(undefined))
    return yield* select(project_id, Locks.updateSkipLocked(sql))
  })

  /** Runs a read of several statements until nothing has changed meanwhile. */
  const unchanged = Effect.fnUntraced(function* <A>(
    project_id: number,
    use: (position: Position) => Effect.Effect<A, SqlError.SqlError>
  ) {
    const attempt = Attempts.make("A read of what events add up to")
    for (let position = yield* read(project_id); ;) {
      const result = yield* use(position)
      const { last, version } = yield* read(project_id)
      if (version === position.version) return result
      position = { last, version }
      yield* attempt
    }
  })

  return { read, put, lock, tryLock, unchanged }
}
