/** Which storages are a file. */
import * as Effect from "effect/Effect"
import type { StorageChoice } from "../config/StorageChoice.ts"
import { UsageError } from "../terminal/CliErrors.ts"

/** The file of a storage. Fails where it has none, with what to do instead. */
export const choice = ({ file, isPersistent }: StorageChoice, verb: "back up" | "restore") => {
  if (file !== undefined) return Effect.succeed(file)
  const reason = isPersistent
    ? "is not a file of SQLite: pg_dump backs a Postgres up, and docs/postgres.md says how"
    : `keeps nothing, so there is nothing to ${verb}: docs/operate.md says what to use instead`
  return Effect.fail(new UsageError({ message: `The storage ${reason}` }))
}
