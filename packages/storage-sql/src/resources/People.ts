/** People: the users of applications. */
import { Errors, type JsonText, type Person, type PersonId, type ProjectId } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as TwoPhaseCommit from "../dialect/TwoPhaseCommit.ts"
import * as NumberedNames from "../names/NumberedNames.ts"
import type * as Projects from "../names/Projects.ts"
import { isJsonObject, personColumns, type PersonRow, toPerson } from "../sql/RowDecoding.ts"
import * as SqlErrors from "../sql/SqlErrors.ts"
import * as NamedRows from "./NamedRows.ts"

export const make = (sql: SqlClient.SqlClient, projects: Projects.Projects) => {
  const findPerson = Effect.fnUntraced(function* (project: number, id: PersonId) {
    const [row] = yield* sql<PersonRow>`SELECT ${sql.literal(personColumns)} FROM people
      WHERE project_id = ${project} AND person_id = ${id}`
    if (row !== undefined && row.properties !== null && !isJsonObject(row.properties)) {
      return yield* Effect.fail(SqlErrors.damage("The properties of a person are not JSON"))
    }
    return row && toPerson(row)
  })

  const getPerson = Effect.fn("SqlStorage.getPerson")(function* (project: ProjectId, id: PersonId) {
    const person = yield* findPerson(yield* projects.find(project), id)
    return person ?? (yield* new Errors.PersonNotFound())
  })

  const putPerson = Effect.fn("SqlStorage.putPerson")(function* (project: ProjectId, person: Person) {
    const project_id = yield* projects.findOrCreate(project)
    const properties = NamedRows.textOf(person, person.properties)
    return yield* NamedRows.putFirst(person, {
      find: findPerson(project_id, person.id),
      create: NamedRows.create(sql, NumberedNames.people, project_id, person.id, {
        properties,
        ...NamedRows.createdAt(person)
      }),
      give: () =>
        TwoPhaseCommit.onAllNodes(
          sql,
          sql`UPDATE people SET properties = ${properties}
            WHERE project_id = ${project_id} AND person_id = ${person.id} AND properties IS NULL`
        )
    })
  })

  const updatePerson = Effect.fn("SqlStorage.updatePerson")(function* (
    project: ProjectId,
    id: PersonId,
    properties: JsonText.JsonText
  ) {
    const number = yield* projects.find(project)
    const [row] = yield* TwoPhaseCommit.onAllNodes(
      sql,
      sql<PersonRow>`UPDATE people SET properties = ${properties}
        WHERE project_id = ${number} AND person_id = ${id} RETURNING ${sql.literal(personColumns)}`
    )
    return row === undefined ? yield* new Errors.PersonNotFound() : toPerson(row)
  })

  return { putPerson, getPerson, updatePerson }
}
