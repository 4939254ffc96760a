/** The numbers that stand for the names of prices in the rows of events. There are as many names as prices were used, so all are cached. */
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as NextNumber from "./NextNumber.ts"

export interface PriceNumbers {
  /** The number of a name that `ensure` was called with. */
  readonly cached: (name: string) => number
  /** Creates the names that do not exist. Do not call it in a transaction: a rollback would leave wrong numbers in the cache. */
  readonly ensure: (names: Iterable<string>) => Effect.Effect<void, SqlError.SqlError>
}

export const make = (sql: SqlClient.SqlClient): PriceNumbers => {
  const cache = new Map<string, number>()

  const find = (name: string) =>
    sql<{ price_number: number }>`SELECT price_number FROM prices WHERE price_name = ${name}`

  const create = (name: string) =>
    NextNumber.insert(sql, { table: "prices", number: "price_number", name: "price_name" }, name)

  const ensureOne = Effect.fnUntraced(function* (name: string): Effect.fn.Return<void, SqlError.SqlError> {
    const [row] = yield* find(name)
    if (row !== undefined) {
      cache.set(name, row.price_number)
      return
    }
    yield* create(name)
    return yield* ensureOne(name)
  })

  return {
    cached: (name) => cache.get(name)!,
    ensure: (names) =>
      Effect.suspend(() => {
        const missing = new Set(names)
        for (const name of missing) if (cache.has(name)) missing.delete(name)
        return missing.size === 0 ? Effect.void : Effect.forEach(missing, ensureOne, { discard: true })
      })
  }
}
