/** A URL that says everything: libpq's parameters, which the driver reads, and a few of our own. */
import { Data, Redacted, Result } from "effect"
import type { PostgresConfig } from "./PostgresStorage.ts"

/** The message never holds the URL: there may be a password in it. */
export class PostgresUrlError extends Data.TaggedError("PostgresUrlError")<{ readonly message: string }> {}

/** What the driver reads, and what we do. */
const known = [
  ...["application_name", "connect_timeout", "dbname", "host", "options", "password", "port", "sslmode", "user"],
  ...["operation_timeout", "pool_size", "pooler", "schema"]
]

/** Whole numbers only, and no more than a timer can wait for. */
const positive = (text: string): number | undefined => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined)

export const fromUrl = (text: string): Result.Result<PostgresConfig, PostgresUrlError> => {
  const fail = (message: string) => Result.fail(new PostgresUrlError({ message }))
  const url = URL.parse(text)
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    return fail("the URL is not of the form postgres://user:password@host:port/database")
  }
  for (const name of url.searchParams.keys()) {
    if (!known.includes(name))
      return fail(`there is no parameter ${JSON.stringify(name)}: expected ${known.join(", ")}`)
  }
  const take = (name: string): string | undefined => {
    const value = url.searchParams.get(name) ?? undefined
    url.searchParams.delete(name)
    return value
  }
  const schema = take("schema")
  const poolSize = take("pool_size")
  const operationTimeout = take("operation_timeout")
  const pooler = take("pooler")
  // Postgres cuts longer names off, so that two of them could be one.
  if (schema !== undefined && (!/^[^\0]+$/.test(schema) || new TextEncoder().encode(schema).length > 63)) {
    return fail("schema is not a name of 1 to 63 bytes")
  }
  if (poolSize !== undefined && positive(poolSize) === undefined) {
    return fail(`pool_size is ${JSON.stringify(poolSize)}: expected a number of connections, from 1`)
  }
  if (operationTimeout !== undefined && positive(operationTimeout) === undefined) {
    return fail(`operation_timeout is ${JSON.stringify(operationTimeout)}: expected milliseconds, from 1`)
  }
  if (pooler !== undefined && pooler !== "true" && pooler !== "false") {
    return fail(`pooler is ${JSON.stringify(pooler)}: expected true or false`)
  }
  if (pooler === "true" && schema !== undefined) {
    return fail("schema cannot be set behind a pooler: give the role a search_path instead")
  }
  return Result.succeed({
    url: Redacted.make(url.href),
    schema,
    maxConnections: poolSize === undefined ? undefined : positive(poolSize),
    operationTimeout: operationTimeout === undefined ? undefined : positive(operationTimeout),
    // The driver's own default would hide ours.
    applicationName: url.searchParams.get("application_name") ?? undefined,
    connectTimeout: undefined,
    pooler: pooler === "true"
  })
}
