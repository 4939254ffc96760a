import { inModule } from "@tachograph/core"
import { Result } from "effect"
import { fromUrl } from "./PostgresUrl.ts"
import * as PostgresStorage from "./PostgresStorage.ts"

export { PostgresStorage }
export type { PostgresConfig } from "./PostgresStorage.ts"
export { fromUrl } from "./PostgresUrl.ts"

/** The storage for `createTachograph`: `postgres("postgres://…?pool_size=20")`. Throws a `TypeError` for an invalid URL. */
export const postgres = (url: string) => {
  const config = fromUrl(url)
  if (Result.isFailure(config)) throw new TypeError(`The URL for Postgres cannot be used: ${config.failure.message}`)
  return inModule(PostgresStorage.layer(config.success), { url: import.meta.url, name: "postgres", args: [url] })
}
