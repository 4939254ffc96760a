/** Runs the database's own check of its tables, one at a time. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import * as Dialects from "../dialect/Dialects.ts"
import { isCorruption } from "../sql/SqlErrors.ts"

/** Where the database is when it says what is wrong: `*** in database main ***`. */
const heading = /^\*\*\* in database \w+ \*\*\*$/

export const make = (sql: SqlClient.SqlClient) => {
  const { tableCheck: dialect } = Dialects.of(sql)

  const checkTable = Effect.fn("SqlStorage.checkTable")(function* (after: string | undefined) {
    if (dialect === undefined) return undefined
    const [next] = yield* dialect.nextTable(after ?? "")
    if (next === undefined) return undefined
    const lines = yield* Effect.catchIf(
      Effect.map(dialect.check(next.name), (rows) => rows.flatMap((row) => row.integrity_check.split("\n"))),
      isCorruption,
      ({ message }) => Effect.succeed([message])
    )
    // What cannot be read has a line already.
    const others = yield* Effect.catchIf(dialect.countOtherTypes(next.name), isCorruption, () => Effect.succeed([]))
    const types = others.map(({ column, values }) => `${values} values of ${column} are not of its type`)
    return { table: next.name, damage: [...lines.filter((line) => line !== "ok" && !heading.test(line)), ...types] }
  })

  return { checkTable }
}
