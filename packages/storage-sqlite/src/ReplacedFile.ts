/** A database file that another one replaces. */
import type * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql"
import { DatabaseSync } from "node:sqlite"
import { attempt } from "./Backup.ts"
import * as DatabaseFile from "./file/DatabaseFile.ts"

/** A database with its lock: nobody else can open it before `release`. */
export interface ReplacedFile {
  /** How many of its events another file does not have, and when the last of them was received (ms); null if there is none. */
  readonly missingFrom: (other: string) => { readonly events: number; readonly lastMs: number | null }
  readonly release: () => void
}

/** The first 48 bits of an event's id are its time. */
const missing = `SELECT count(*) AS events, max(hex(event_id)) AS last FROM main.events JOIN main.projects AS own USING (project_id)
  WHERE NOT EXISTS (SELECT 1 FROM other.events AS kept JOIN other.projects AS theirs USING (project_id)
    WHERE theirs.project_name = own.project_name AND kept.event_id = main.events.event_id)`

/**
 * Takes the lock of a database, and what its log has into it. Fails if another connection has it open: with `LockTimeoutError`, as any
 * statement would.
 */
export const lock = (path: string): Effect.Effect<ReplacedFile, SqlError.SqlError> =>
  attempt("lock", () => {
    const database = new DatabaseSync(path, { timeout: 2_000 })
    try {
      DatabaseFile.refuseForeignLog(database)
      database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; COMMIT")
    } catch (error) {
      database.close()
      throw error
    }
    return {
      missingFrom: (other) => {
        database.prepare("ATTACH ? AS other").run(other)
        try {
          const { events, last } = database.prepare(missing).get() as { events: number; last: string | null }
          return { events, lastMs: last === null ? null : Number.parseInt(last.slice(0, 12), 16) }
        } finally {
          database.exec("DETACH other")
        }
      },
      release: () => database.close()
    }
  })
