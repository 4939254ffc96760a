/** What `ApiKeys` needs of a storage. It may be on another thread. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Storage } from "../Storage.ts"

export class KeyStorage extends Context.Service<
  KeyStorage,
  Pick<Storage["Service"], "putApiKey" | "findApiKey" | "listApiKeys" | "revokeApiKey" | "deleteExpiredApiKeys">
>()("tachograph/core/KeyStorage") {
  /** The keys of the storage on this thread. */
  static readonly layer: Layer.Layer<KeyStorage, never, Storage> = Layer.effect(
    KeyStorage,
    Effect.map(Storage, KeyStorage.of)
  )
}
