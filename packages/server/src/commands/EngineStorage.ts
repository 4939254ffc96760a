/** The storage of `tachograph serve`, with what belongs beside it on the same thread. */
import { CollectGarbage, inModule, Retention, type Storage } from "@tachograph/core"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { extname } from "node:path"
import type { CommandError } from "../terminal/CliErrors.ts"
import * as GarbageCollection from "../process/GarbageCollection.ts"
import * as StorageChoice from "../config/StorageChoice.ts"

export interface EngineStorageOptions {
  /** As `--storage` takes it. */
  readonly storage: string
  readonly migrate: boolean
  /** How long events are kept (ms); for ever if undefined. */
  readonly retainMs: number | undefined
}

/** This module. A bundle has its own copy of it under the same name. */
const moduleUrl = new URL(`EngineStorage${extname(import.meta.url)}`, import.meta.url).href

const garbageCollection = Layer.succeed(CollectGarbage, GarbageCollection.run)

/** Opens it on this thread. */
export const open = (options: EngineStorageOptions): Layer.Layer<Storage, CommandError> => {
  const { migrate, retainMs, storage } = options
  const choice = Option.getOrThrow(StorageChoice.parse(storage))
  const layer = (retainMs === undefined ? Layer.empty : Retention.layer({ keep: Duration.millis(retainMs) })).pipe(
    Layer.provideMerge(migrate ? choice.layer : choice.layerNoMigrations),
    Layer.provideMerge(garbageCollection)
  )
  if (!choice.isPersistent) return layer
  return inModule(layer, { url: moduleUrl, name: "open", reading: "openReading", args: [options] })
}

/** Opens what is open already on another thread, to read. Found by its name. @public */
export const openReading = ({ storage }: EngineStorageOptions): Layer.Layer<Storage, CommandError> =>
  Option.getOrThrow(StorageChoice.parse(storage)).layerReading.pipe(Layer.provideMerge(garbageCollection))
