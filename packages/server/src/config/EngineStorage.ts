/** The storage of `tachograph serve`, with what belongs beside it on the same thread. */
import { CollectGarbage, Retention, SessionCacheBytes, type StorageModule } from "@tachograph/core"
import { Duration, Layer, Option } from "effect"
import * as GarbageCollection from "../process/GarbageCollection.ts"
import * as StorageChoice from "./StorageChoice.ts"

export interface EngineStorageOptions {
  /** As `--storage` takes it. */
  readonly storage: string
  readonly migrate: boolean
  readonly sessionCacheBytes: number
  /** How long events are kept (ms); for ever if undefined. */
  readonly retainMs: number | undefined
}

/** Opens it on this thread. */
export const open = ({ migrate, retainMs, sessionCacheBytes, storage }: EngineStorageOptions) => {
  const choice = Option.getOrThrow(StorageChoice.parse(storage))
  return (retainMs === undefined ? Layer.empty : Retention.layer({ keep: Duration.millis(retainMs) })).pipe(
    Layer.provideMerge(migrate ? choice.layer : choice.layerNoMigrations),
    Layer.provideMerge(
      Layer.mergeAll(
        Layer.succeed(SessionCacheBytes, sessionCacheBytes),
        Layer.succeed(CollectGarbage, GarbageCollection.run)
      )
    )
  )
}

export const moduleOf = (options: EngineStorageOptions): StorageModule => ({
  url: import.meta.url,
  name: "open",
  args: [options]
})
