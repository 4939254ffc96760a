/** Where the storage of a layer can be opened on another thread. */
import type * as Layer from "effect/Layer"
import type { Storage } from "./Storage.ts"

/**
 * How a storage is opened on another thread: what the module at `url` exports as `name` is called there with `args`, and
 * returns a layer of the storage. The arguments are cloned as `postMessage` does.
 */
export interface StorageModule {
  readonly url: string
  readonly name: string
  /**
   * What the module exports under this name is called with the same arguments on a thread for long reads, and returns a layer
   * for what only reads. Undefined if all that reads is on the thread that writes.
   */
  readonly reading?: string | undefined
  readonly args: ReadonlyArray<unknown>
}

const modules = new WeakMap<object, StorageModule>()

/** Says how the storage of a layer is opened on another thread. A layer that is made of it does not know. */
export const inModule = <A extends Layer.Layer<Storage, unknown>>(layer: A, module: StorageModule): A => {
  modules.set(layer, module)
  return layer
}

/** Undefined if the storage can only be opened on this thread. */
export const moduleOf = (layer: object): StorageModule | undefined => modules.get(layer)
