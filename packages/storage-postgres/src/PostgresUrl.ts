/** Configuration by a URL, with libpq's parameters, which the driver reads, and some of our own. */
import * as Data from "effect/Data"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Hosts from "./Hosts.ts"
import type { PostgresConfig } from "./PostgresStorage.ts"

/** The message does not contain the URL, which may hold a password. */
export class PostgresUrlError extends Data.TaggedError("PostgresUrlError")<{ readonly message: string }> {}

/** The driver's parameters, and ours. */
const parameters = [
  ...["application_name", "connect_timeout", "dbname", "host", "options", "password", "port", "sslmode", "user"],
  ...["operation_timeout", "pool_size", "pooler", "schema", "target_session_attrs"]
]

const targets = ["any", "primary", "read-write"] as const

/** A positive integer of at most nine digits: more milliseconds do not fit a timer. */
const parsePositive = (text: string): number | undefined => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined)

/** The hosts and the database of a URL, to show. */
export const label = (text: string): string => Hosts.namesOf(text) + new URL(Hosts.urls(text)[0]!).pathname

export const fromUrl = (text: string): Result.Result<PostgresConfig, PostgresUrlError> => {
  const fail = (message: string) => Result.fail(new PostgresUrlError({ message }))
  if (/^,|,(,|$)/.test(Hosts.namesOf(text))) {
    return fail("the URL has a comma without a host: expected postgres://user:password@one:5432,two:5432/database")
  }
  const urls = Hosts.urls(text).map((each) => URL.parse(each))
  const [url] = urls
  if (!url || urls.includes(null) || !/^postgres(ql)?:$/.test(url.protocol)) {
    return fail("the URL is not of the form postgres://user:password@host:port/database")
  }
  for (const name of url.searchParams.keys()) {
    if (!parameters.includes(name))
      return fail(`there is no parameter ${JSON.stringify(name)}: expected ${parameters.join(", ")}`)
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
  const target = take("target_session_attrs") ?? "any"
  // Postgres truncates longer names, so two different ones could become the same.
  if (schema !== undefined && (!/^[^\0]+$/.test(schema) || new TextEncoder().encode(schema).length > 63)) {
    return fail("schema is not a name of 1 to 63 bytes")
  }
  if (poolSize !== undefined && parsePositive(poolSize) === undefined) {
    return fail(`pool_size is ${JSON.stringify(poolSize)}: expected a number of connections, at least 1`)
  }
  if (operationTimeout !== undefined && parsePositive(operationTimeout) === undefined) {
    return fail(`operation_timeout is ${JSON.stringify(operationTimeout)}: expected milliseconds, at least 1`)
  }
  const targetSessionAttrs = targets.find((each) => each === target)
  if (targetSessionAttrs === undefined) {
    return fail(`target_session_attrs is ${JSON.stringify(target)}: expected any, primary or read-write`)
  }
  if (url.searchParams.get("host")?.includes(",") === true) {
    return fail("host has a comma: several hosts stand before the path, as in postgres://one:5432,two:5432/database")
  }
  if (pooler !== undefined && pooler !== "true" && pooler !== "false") {
    return fail(`pooler is ${JSON.stringify(pooler)}: expected true or false`)
  }
  if (pooler === "true" && schema !== undefined) {
    return fail("schema cannot be set behind a pooler: set the role's search_path instead")
  }
  return Result.succeed({
    url: Redacted.make(Hosts.withHostsOf(url.href, text)),
    targetSessionAttrs,
    schema,
    maxConnections: poolSize === undefined ? undefined : parsePositive(poolSize),
    operationTimeout: operationTimeout === undefined ? undefined : parsePositive(operationTimeout),
    // Read here because `client` gives the driver a name, which overrides the URL's parameter.
    applicationName: url.searchParams.get("application_name") ?? undefined,
    connectTimeout: undefined,
    pooler: pooler === "true"
  })
}
