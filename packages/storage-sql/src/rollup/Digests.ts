/**
 * Keeps digests of sessions in step with the rows of these, some time later. An erasure takes the digest of a row along that it changes,
 * and it is made anew.
 */
import { type EventId, SessionDigest, SessionFigures } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as DigestRows from "./DigestRows.ts"
import * as RollupPosition from "./RollupPosition.ts"
import * as Rollups from "./Rollups.ts"
import * as Series from "./Series.ts"

/**
 * Changed rows of sessions from which on they are put into digests, while events are recorded and otherwise: a read takes fewer of them from
 * where they are. Digests are written once for many rows, so that they take little from recording.
 */
const minChanged = { busy: 2_000, idle: 500 }

/** Changed rows that one step puts into digests, those that one statement reads, and digests that one step makes anew. */
const maxChanged = 2_000
const rowsPerStatement = 500
const maxMissing = 16

/** Steps that follow each other. */
const maxSteps = 8

/** The parts with others in the place of those that have the same names. */
const replaced = (parts: DigestRows.Parts, others: DigestRows.Parts): DigestRows.Parts => {
  if (others.length === 0) return parts
  const nameOf = (part: SessionFigures.SessionFigures) => `${part.session} ${SessionFigures.keyOf(part)}`
  return Array.from(new Map([...parts, ...others].map((part) => [nameOf(part), part])).values())
}

export const make = (sql: SqlClient.SqlClient) => {
  const rollups = Rollups.make(sql)
  const positions = RollupPosition.make(sql)
  const { changed, ofNumbers, ofSessions, position, toPosition } = DigestRows.make(sql)
  /** Digests with a damaged row of a session: this process tries none of them again before an erasure or a reindex has changed it. */
  const unreadable = new Set<string>()
  const nameOf = (project_id: number, number: number) => `${project_id} ${number}`

  /** The first rows that have changed since an event. */
  const readChanged = Effect.fnUntraced(function* (project_id: number, since: EventId) {
    const parts: Array<SessionFigures.SessionFigures> = []
    const damaged = new Set<number>()
    let [rows, last] = [0, since]
    while (rows < maxChanged) {
      const read = yield* changed(project_id, last, rowsPerStatement)
      parts.push(...read.parts)
      for (const session of read.damaged) damaged.add(session)
      rows += read.rows
      last = read.last ?? last
      if (read.rows < rowsPerStatement) break
      yield* Effect.yieldNow
    }
    return { parts, damaged, rows, last }
  })

  /** The digests that a step writes, and where they are then. Undefined if there is nothing to do. */
  const next = Effect.fnUntraced(function* (project_id: number, least: number) {
    const found = yield* position(project_id)
    const { last, missing } = found ?? DigestRows.none
    const read = yield* readChanged(project_id, last)
    const isDue = read.rows >= least
    const readable = missing.filter((number) => !unreadable.has(nameOf(project_id, number)))
    if (!isDue && readable.length === 0) return undefined
    const renewed = readable.slice(0, maxMissing)
    const changes = Map.groupBy(isDue ? read.parts : [], ({ session }) => SessionDigest.numberOf(session))
    const damaged = new Set(Array.from(isDue ? read.damaged : [], SessionDigest.numberOf))
    const numbers = Array.from(new Set([...changes.keys(), ...renewed, ...damaged]))
    const stored = found === undefined ? new Map<number, DigestRows.Parts>() : yield* ofNumbers(project_id, numbers)
    const digests: Array<{ readonly number: number; readonly parts: DigestRows.Parts }> = []
    for (const number of numbers) {
      const from = number * SessionDigest.sessionsOf
      const base = stored.get(number)
      const rows = base === undefined ? yield* ofSessions(project_id, from, from + SessionDigest.sessionsOf) : undefined
      if (rows !== undefined && rows.damaged.size > 0) damaged.add(number)
      digests.push({ number, parts: replaced(base ?? rows!.parts, changes.get(number) ?? []) })
    }
    for (const number of damaged) unreadable.add(nameOf(project_id, number))
    return {
      digests: digests.filter(({ number }) => !damaged.has(number)),
      // Those with a damaged row have none until the row is made anew.
      damaged: Array.from(damaged),
      isFirst: found === undefined,
      position: {
        last: isDue ? read.last : last,
        missing: Array.from(new Set([...missing.filter((number) => !renewed.includes(number)), ...damaged]))
      } satisfies DigestRows.DigestPosition
    }
  })

  /** Writes what was read at a version, if that is still the one. */
  const write = Effect.fnUntraced(function* (
    project_id: number,
    version: number,
    step: NonNullable<Effect.Success<ReturnType<typeof next>>>
  ) {
    const locked = yield* positions.tryLock(project_id)
    if (locked?.version !== version) return false
    // Those of a position that is damaged.
    if (step.isFirst)
      yield* sql`DELETE FROM rollups WHERE ${rollups.ofProject(project_id)} AND series = ${Series.digest}`
    yield* rollups.remove(project_id, step.damaged.map(DigestRows.keyOf))
    yield* rollups.put([
      ...step.digests.map(({ number, parts }) =>
        rollups.toInsert(project_id, DigestRows.keyOf(number), {}, SessionDigest.write(parts))
      ),
      toPosition(project_id, step.position)
    ])
    yield* positions.put(project_id, RollupPosition.advanced(locked, locked.last))
    return true
  })

  /** Puts what has changed into digests, in some short steps, each of which runs in `transaction`. */
  const gather = Effect.fnUntraced(function* (
    project_id: number,
    isIdle: boolean,
    transaction: <A>(use: Effect.Effect<A, SqlError.SqlError>) => Effect.Effect<A, SqlError.SqlError>
  ) {
    for (let steps = 0; steps < maxSteps; steps++) {
      const step = yield* positions.settled(project_id, 1, () => next(project_id, minChanged[isIdle ? "idle" : "busy"]))
      if (step?.value === undefined) return
      if (!(yield* transaction(write(project_id, step.version, step.value)))) return
    }
  })

  /** Takes the digests of sessions away of which rows have changed otherwise than by later events. The position is locked. */
  const forget = Effect.fnUntraced(function* (project_id: number, sessions: Iterable<number>) {
    const found = yield* position(project_id)
    if (found === undefined) return
    const numbers = Array.from(new Set(Array.from(sessions, SessionDigest.numberOf)))
    yield* rollups.remove(project_id, numbers.map(DigestRows.keyOf))
    const missing = Array.from(new Set([...found.missing, ...numbers]))
    for (const number of numbers) unreadable.delete(nameOf(project_id, number))
    yield* rollups.put([toPosition(project_id, { ...found, missing })])
  })

  return { forget, gather }
}
