import { inModule } from "@tachograph/core"
import * as Result from "effect/Result"
import { fromUrl } from "./PostgresUrl.ts"
import * as PostgresStorage from "./PostgresStorage.ts"

export { PostgresStorage }
export type { PostgresConfig } from "./PostgresStorage.ts"
export { fromUrl } from "./PostgresUrl.ts"

const configOf = (url: string) => {
  const config = fromUrl(url)
  if (Result.isFailure(config)) throw new TypeError(`The URL for Postgres cannot be used: ${config.failure.message}`)
  return config.success
}

/** The storage for `createTachograph`: `postgres("postgres://…?pool_size=20")`. Throws a `TypeError` for an invalid URL. */
export const postgres = (url: string) =>
  inModule(PostgresStorage.layer(configOf(url)), {
    url: import.meta.url,
    name: "postgres",
    reading: "postgresReading",
    args: [url]
  })

/** The same for long reads, with a small pool of its own. */
export const postgresReading = (url: string) => PostgresStorage.layerReading(configOf(url))
