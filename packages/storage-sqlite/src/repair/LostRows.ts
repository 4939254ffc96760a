/**
 * What follows from rows that were lost. The rule of what an erasure may do about malformed pages:
 *
 * - A row that can be read stays, whoever it belongs to.
 * - Names that can be read in an index only are put back into their table. Where neither has the name of a session or a person to
 *   whom rows belong, nobody can say whose these are: they might be what is to be erased, or of others. Then nothing is changed, and the
 *   erasure fails as it did. So it does where nothing says any more who else uses a shared piece.
 * - What only a lost row led to cannot be read by anyone, and may be of what is to be erased. It is deleted: the idempotency key of a lost
 *   event now, and by the next sweep the parts of a session's packs that no event reaches.
 * - What was deleted does not come back: a page that was copied over another one has rows twice. Packs of no session and no event, and
 *   shared pieces without an owner, are deleted where the table that would name them is whole.
 */
import type { DatabaseSync, SQLInputValue } from "node:sqlite"
import type { Entry } from "./Schema.ts"
import type { Salvage } from "./Salvage.ts"

/** What is malformed cannot be built anew without losing what belongs to others. The transaction is to be rolled back. */
export class Unrepairable extends Error {
  override readonly name = "Unrepairable"
}

/** That no process knows a session by: as `append/CounterRepair` of `storage-sql` has it. */
const unknownGeneration = 2 ** 52

const sessionsPerStep = 1000

const indexNamed = (indexes: ReadonlyArray<Entry>, name: string) => indexes.filter((index) => index.name === name)

/**
 * Their counters are lost. The next erasure sweeps them, because one may have been interrupted. The counter of packs is raised
 * when a session records on.
 */
const restoreSessions = (database: DatabaseSync, salvage: Salvage, indexes: ReadonlyArray<Entry>): void => {
  const insert =
    database.prepare(`INSERT OR IGNORE INTO sessions (project_id, session_number, session_id, generation, packs,
      pending_sweep)
    VALUES (?1, ?2, ?3, ${unknownGeneration},
      (SELECT coalesce(max(pack_number), 0) FROM packs WHERE project_id = ?1 AND session_number = ?2), 1)`)
  for (const index of indexNamed(indexes, "sessions_by_id")) {
    for (const entry of salvage.missing(index)) {
      insert.run(entry.get("project_id")!, entry.get("session_number")!, entry.get("session_id")!)
    }
  }
}

/**
 * An index has their numbers, and another one their names. When they were created is lost. So are their properties, which are refused until
 * they are replaced: an empty text is no JSON.
 */
const restorePeople = (database: DatabaseSync, salvage: Salvage, indexes: ReadonlyArray<Entry>): void => {
  database.exec("CREATE TEMP TABLE lost_people (number INTEGER PRIMARY KEY, project_id INTEGER, person_id TEXT)")
  const keep = database.prepare("INSERT OR IGNORE INTO lost_people VALUES (?, ?, ?)")
  const insert = database.prepare(`INSERT OR IGNORE INTO people (project_id, person_number, person_id, created_at,
      properties)
    SELECT project_id, ?2, person_id, 0, '' FROM lost_people WHERE number = ?3 AND project_id = ?1`)
  for (const index of indexNamed(indexes, "people_by_id")) {
    for (const entry of salvage.missing(index)) {
      keep.run(entry.get(null)!, entry.get("project_id")!, entry.get("person_id")!)
    }
  }
  for (const index of indexNamed(indexes, "sqlite_autoindex_people_1")) {
    for (const entry of salvage.missing(index)) {
      insert.run(entry.get("project_id")!, entry.get("person_number")!, entry.get(null)!)
    }
  }
  database.exec("DROP TABLE lost_people")
}

/** The index has all columns. */
const restoreOwners = (database: DatabaseSync, salvage: Salvage, indexes: ReadonlyArray<Entry>): void => {
  const insert = database.prepare(
    "INSERT OR IGNORE INTO shared_piece_owners (project_id, session_number, sha256) VALUES (?, ?, ?)"
  )
  for (const index of indexNamed(indexes, "shared_piece_owners_by_piece")) {
    for (const entry of salvage.missing(index)) {
      insert.run(entry.get("project_id")!, entry.get("session_number")!, entry.get("sha256")!)
    }
  }
}

/** Puts rows of these tables back as far as their former indexes have them. */
export const restore: Readonly<
  Record<string, (database: DatabaseSync, salvage: Salvage, indexes: ReadonlyArray<Entry>) => void>
> = { sessions: restoreSessions, people: restorePeople, shared_piece_owners: restoreOwners }

const sameSession = (table: string) =>
  `s.project_id = ${table}.project_id AND s.session_number = ${table}.session_number`

/** Rows of sessions or people that have no name, by the table that has lost it. */
const nameless: Readonly<Record<string, ReadonlyArray<string>>> = {
  sessions: ["events", "packs", "shared_piece_owners"].map(
    (table) => `SELECT 1 FROM ${table} WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE ${sameSession(table)}) LIMIT 1`
  ),
  people: [
    `SELECT 1 FROM events WHERE person_number IS NOT NULL AND NOT EXISTS (SELECT 1 FROM people p
      WHERE p.project_id = events.project_id AND p.person_number = events.person_number) LIMIT 1`
  ]
}

/** Marks packs whose events are lost as erased. */
const markPacks = (database: DatabaseSync, project: SQLInputValue, session: SQLInputValue): void => {
  const { changes } = database
    .prepare(
      `UPDATE packs SET kept = 0 WHERE project_id = ?1 AND session_number = ?2 AND kept <> 0 AND pack_number NOT IN (
        SELECT pack_number FROM events INDEXED BY events_by_session WHERE project_id = ?1 AND session_number = ?2)`
    )
    .run(project, session)
  if (changes > 0) requestSweep(database, project, session)
}

/** The next erasure in the project sweeps the session. */
export const requestSweep = (database: DatabaseSync, project: SQLInputValue, session: SQLInputValue): void =>
  void database
    .prepare("UPDATE sessions SET pending_sweep = abs(pending_sweep) + 1 WHERE project_id = ? AND session_number = ?")
    .run(project, session)

const eachSession = (database: DatabaseSync, body: (project: SQLInputValue, session: SQLInputValue) => void): void => {
  const next = database.prepare(`SELECT project_id, session_number FROM sessions
    WHERE (project_id, session_number) > (?, ?) ORDER BY project_id, session_number LIMIT ${sessionsPerStep}`)
  let after: ReadonlyArray<SQLInputValue> = [-1, -1]
  for (;;) {
    const rows = next.all(...after)
    for (const { project_id, session_number } of rows) body(project_id!, session_number!)
    const last = rows.at(-1)
    if (last === undefined) return
    after = [last["project_id"]!, last["session_number"]!]
  }
}

/** After all tables were built anew, these of them from what could be read. Throws `Unrepairable` if a name is missing. */
export const follow = (database: DatabaseSync, rebuilt: ReadonlySet<string>): void => {
  for (const table of rebuilt) {
    for (const query of nameless[table] ?? []) {
      if (database.prepare(query).get() !== undefined) {
        throw new Unrepairable(`Neither the table ${table} nor its index has all names that rows belong to`)
      }
    }
  }
  // Where a page was copied over another one, rows are there twice, and one of them may have been deleted since.
  if (rebuilt.has("events") || rebuilt.has("idempotency_keys")) {
    database.exec(`DELETE FROM idempotency_keys WHERE NOT EXISTS (SELECT 1 FROM events e
      WHERE e.project_id = idempotency_keys.project_id AND e.event_id = idempotency_keys.event_id)`)
  }
  if (rebuilt.has("shared_pieces")) {
    database.exec(`DELETE FROM shared_pieces WHERE NOT EXISTS (SELECT 1 FROM shared_piece_owners o
      WHERE o.project_id = shared_pieces.project_id AND o.sha256 = shared_pieces.sha256)`)
  }
  if (rebuilt.has("packs") && !rebuilt.has("sessions")) {
    database.exec(`DELETE FROM packs WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE ${sameSession("packs")})
      AND NOT EXISTS (SELECT 1 FROM events e WHERE e.project_id = packs.project_id
        AND e.session_number = packs.session_number)`)
  }
  if (rebuilt.has("events") || rebuilt.has("packs") || rebuilt.has("sessions")) {
    eachSession(database, (project, session) => markPacks(database, project, session))
    database.exec(`UPDATE sessions SET pending_sweep = abs(pending_sweep) + 1 WHERE pending_sweep <= 0
      AND NOT EXISTS (SELECT 1 FROM events e WHERE e.project_id = sessions.project_id
        AND e.session_number = sessions.session_number)`)
  }
  if (rebuilt.has("packs") || rebuilt.has("sessions")) {
    const size = database.prepare(`UPDATE sessions SET (stored_bytes, ranked_bytes) = (
        SELECT coalesce(sum(octet_length(pack)), 0), coalesce(sum(octet_length(pack)), 0) FROM packs
        WHERE project_id = ?1 AND session_number = ?2)
      WHERE project_id = ?1 AND session_number = ?2`)
    eachSession(database, (project, session) => size.run(project, session))
  }
}
