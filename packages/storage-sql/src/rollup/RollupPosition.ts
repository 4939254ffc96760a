/**
 * Up to which event the rows of `rollups` say what events add up to. Every change of the rows changes `version` in the same
 * transaction, so that a read of several statements knows whether it has seen one state of them. `edits` tells whether what was not
 * in the rows has only come along since.
 */
import { Damage, type EventId, firstIdOf } from "@tachograph/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Locks from "../dialect/Locks.ts"
import * as Dialects from "../dialect/Dialects.ts"
import * as Damages from "./Damages.ts"
import * as Rollups from "./Rollups.ts"
import * as Series from "./Series.ts"

export interface RollupPosition {
  /** The last event that is in the rows; less than any if none is. */
  readonly last: EventId
  readonly version: number
  /** Changed with `version`, unless the next events were added. */
  readonly edits: number
}

/** Less than any event. */
const none = firstIdOf(0)

type Row = Pick<Rollups.Row, "last_event" | "last_call" | "sums">

type Versions = Pick<RollupPosition, "version" | "edits">

const sumsOf = ({ edits, version }: Versions): Uint8Array => new Uint8Array(Float64Array.of(version, edits).buffer)

const versionsIn = (sums: Uint8Array): Versions => {
  if (sums.length !== 16) throw new Damage("A position does not have the length that it should have")
  const [version = 0, edits = 0] = new Float64Array(Uint8Array.from(sums).buffer)
  return { version, edits }
}

/** Before anything is in the rows. */
export const first: RollupPosition = { last: none, version: 0, edits: 0 }

/** After the next events were added. */
export const advanced = ({ edits, version }: RollupPosition, last: EventId): RollupPosition => ({
  last,
  version: version + 1,
  edits
})

/** After events up to the last one were added or taken away. */
export const edited = ({ edits, last, version }: RollupPosition): RollupPosition => ({
  last,
  version: version + 1,
  edits: edits + 1
})

const of = (project_id: number, row: Row | undefined): RollupPosition => {
  if (row === undefined) return first
  const { last = none, sums } = Rollups.sumsOf(project_id, Rollups.positionKey, row)
  return { last, ...versionsIn(sums) }
}

export const make = (sql: SqlClient.SqlClient) => {
  const rollups = Rollups.make(sql)
  const isPosition = (project_id: number) => sql`${rollups.ofProject(project_id)} AND series = ${Series.position}`

  const select = (project_id: number, lock = sql.literal("")) =>
    Effect.map(
      sql<Row>`SELECT last_event, last_call, sums FROM rollups WHERE ${isPosition(project_id)} ${lock}`,
      ([row]): Row | undefined => row
    )

  const read = (project_id: number) =>
    Effect.flatMap(select(project_id), (row) => Damages.readable(() => of(project_id, row)))

  const toInsert = (project_id: number, position: RollupPosition) =>
    rollups.toInsert(project_id, Rollups.positionKey, { last: position.last }, sumsOf(position))

  const put = (project_id: number, position: RollupPosition) => rollups.put([toInsert(project_id, position)])

  /** Waits for a transaction that creates it, and leaves what that has made of it. */
  const create = (project_id: number) => rollups.putNew(toInsert(project_id, first))

  /** Deletes all other rows, so that they are built anew. The position is locked. */
  const reset = Effect.fnUntraced(function* (project_id: number, before: Versions) {
    yield* sql`DELETE FROM rollups WHERE ${rollups.ofProject(project_id)} AND series <> ${Series.position}`
    const position = edited({ ...before, last: first.last })
    yield* put(project_id, position)
    return position
  })

  /** The position of a row that is locked. If it is damaged, it is unknown what the other rows include. */
  const ofLocked = (project_id: number, row: Row) =>
    Effect.catchIf(
      Damages.readable(() => of(project_id, row)),
      Damages.isDamage,
      // Greater than any version before.
      () => Effect.flatMap(Clock.currentTimeMillis, (now) => reset(project_id, { version: now, edits: now }))
    )

  /** In a transaction: no other one changes the rows until its end. Creates the position if there is none. */
  const lock = Effect.fnUntraced(function* (project_id: number) {
    let row = yield* select(project_id, Locks.update(sql))
    if (row === undefined) {
      yield* create(project_id)
      row = yield* select(project_id, Locks.update(sql))
    }
    return row === undefined ? first : yield* ofLocked(project_id, row)
  })

  /** Undefined if another transaction has the lock. Creates the row if there is none. */
  const tryLock = Effect.fnUntraced(function* (project_id: number) {
    let row = yield* select(project_id, Locks.updateSkipLocked(sql))
    if (row === undefined) {
      const isThere = (yield* select(project_id)) !== undefined
      if (isThere) return undefined
      yield* create(project_id)
      row = yield* select(project_id, Locks.updateSkipLocked(sql))
    }
    return row && (yield* ofLocked(project_id, row))
  })

  /** Repeats a read of several statements until it has seen one state of the rows. Undefined if it has not after all attempts. */
  const settled = Effect.fnUntraced(function* <A>(
    project_id: number,
    attempts: number,
    use: (position: RollupPosition) => Effect.Effect<A, SqlError.SqlError>
  ) {
    let position = yield* read(project_id)
    for (let left = attempts; left > 0; left--) {
      const value = yield* use(position)
      const now = yield* read(project_id)
      if (now.version === position.version) return { value, version: now.version }
      position = now
    }
    return undefined
  })

  /** Runs a read of several statements so that it sees one state of the rows. */
  const unchanged = Effect.fnUntraced(function* <A>(
    project_id: number,
    use: (position: RollupPosition) => Effect.Effect<A, SqlError.SqlError>
  ) {
    const done = yield* settled(project_id, maxAttempts, use)
    if (done !== undefined) return done.value
    // The rows change more often than the read takes.
    return yield* sql.withTransaction(
      Effect.andThen(Dialects.of(sql).beginSnapshot, Effect.flatMap(read(project_id), use))
    )
  })

  return { read, put, reset, lock, tryLock, settled, unchanged }
}

/** How often a read is tried without a snapshot, for which SQLite makes writers wait. */
const maxAttempts = 3
