import { Effect, Layer } from "effect"
import { fromUrl } from "./PostgresUrl.ts"
import * as PostgresStorage from "./PostgresStorage.ts"

export { PostgresStorage }
export type { PostgresConfig } from "./PostgresStorage.ts"
export { fromUrl } from "./PostgresUrl.ts"

/** The storage for `createTachograph`: `postgres("postgres://…?pool_size=20")`. */
export const postgres = (url: string) =>
  Layer.unwrap(Effect.map(Effect.fromResult(fromUrl(url)), PostgresStorage.layer))
