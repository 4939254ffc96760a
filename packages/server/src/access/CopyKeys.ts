/** Copies API keys from one storage to another: their hashes, so that the same keys are taken there. */
import { type ApiKey, Audit, CurrentActor, type ProjectId, Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as StorageSetting from "../config/StorageSetting.ts"

/** The keys of a project, with their hashes. */
export const read = (storage: string, project: ProjectId) =>
  StorageSetting.withExisting(
    Option.some(storage),
    { access: "read", contents: "keys" },
    Effect.gen(function* () {
      const { apiKeyHashes, listApiKeys } = yield* Storage
      const hashes = yield* apiKeyHashes
      const keys = yield* listApiKeys
      return keys.flatMap((key) => {
        const hash = hashes.get(key.id)
        return key.project === project && hash !== undefined ? [{ key, hash }] : []
      })
    })
  )

/** Writes those that are missing, and revokes those that were revoked. Returns how many it changed. */
export const write = (storage: string, keys: ReadonlyArray<{ readonly key: ApiKey; readonly hash: Uint8Array }>) =>
  StorageSetting.withExisting(
    Option.some(storage),
    { access: "create", contents: "keys" },
    Effect.gen(function* () {
      const { listApiKeys, putApiKey, revokeApiKey } = yield* Storage
      const present = new Map((yield* listApiKeys).map((key) => [key.id, key]))
      let changed = 0
      for (const { hash, key } of keys) {
        const there = present.get(key.id)
        if (there === undefined) {
          yield* putApiKey(key, hash, yield* Audit.entry("key-created", key.id))
        } else if (key.revokedAt !== null && there.revokedAt === null) {
          yield* revokeApiKey(key.id, key.revokedAt, yield* Audit.entry("key-revoked", key.id))
        } else continue
        changed++
      }
      return changed
    }).pipe(Effect.provideService(CurrentActor, "command"))
  )
