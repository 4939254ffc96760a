/** Deletes people without events and steps. */
import { Errors, type PersonId, type ProjectId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Bucket from "../dialect/Bucket.ts"
import * as Locks from "../dialect/Locks.ts"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as PeopleInUse from "../names/PeopleInUse.ts"
import type * as Projects from "../names/Projects.ts"
import type { Integer } from "../sql/RowDecoding.ts"
import type * as IndexRepair from "../sql/IndexRepair.ts"

/** Every transaction that deletes something runs `requestScrub`. */
export const make = (
  sql: SqlClient.SqlClient,
  projects: Projects.Projects,
  requestScrub: Effect.Effect<void, SqlError.SqlError>,
  { repairing }: IndexRepair.Repairs
) => {
  const repairingPeople = repairing(["people"])

  const deleteIn = Effect.fnUntraced(function* (project_id: number, id: PersonId) {
    if (Bucket.isDistributed(sql)) yield* PeopleInUse.lockEverywhere(sql, project_id, id)
    yield* TwoPhaseCommit.refuseInDoubt(sql)
    // Waits for transactions that append events of the person. The next statement sees the events that they committed.
    const [row] = yield* sql<{ person_number: Integer }>`SELECT person_number FROM people
      WHERE project_id = ${project_id} AND person_id = ${id} ${Locks.update(sql)}`
    if (row === undefined) return yield* new Errors.PersonNotFound()
    const number = Number(row.person_number)
    for (const table of ["events", "steps"]) {
      const rows = yield* sql`SELECT 1 FROM ${sql(table)}
        WHERE project_id = ${project_id} AND person_number = ${number} LIMIT 1`
      if (rows.length > 0) return false
    }
    yield* sql`DELETE FROM people WHERE project_id = ${project_id} AND person_id = ${id}`
    return true
  })

  const deletePerson = Effect.fn("SqlStorage.deletePerson")(function* (project: ProjectId, id: PersonId) {
    const number = yield* projects.find(project)
    return yield* repairingPeople(
      TwoPhaseCommit.transaction(
        sql,
        Effect.tap(deleteIn(number, id), (isDeleted) => (isDeleted ? requestScrub : Effect.void))
      )
    )
  })

  return { deletePerson }
}
