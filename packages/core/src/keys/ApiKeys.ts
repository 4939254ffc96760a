/** Issues, verifies and revokes API keys. A key opens one project, with the scopes it was issued with. */
import { Cache, Clock, Context, DateTime, Duration, Effect, Exit, Layer, Option, Redacted } from "effect"
import { hash, timingSafeEqual } from "node:crypto"
import * as ApiKeyText from "./ApiKeyText.ts"
import { ApiKey, type Scope } from "../domain/ApiKey.ts"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { Name } from "../domain/Name.ts"
import { defaultProject, type ProjectId } from "../domain/Project.ts"
import { Storage } from "../Storage.ts"

/** Whom a valid key stands for. */
export interface Principal {
  readonly project: ProjectId
  readonly scopes: ReadonlyArray<Scope>
}

/**
 * How long a look-up is remembered. Revocation is promised to take effect within 10 s in every process; the difference
 * leaves time for a look-up that was under way.
 */
const cacheTtl = Duration.seconds(8)

/** Keys remembered at once; the least recently used goes first. */
const cacheCapacity = 10_000

/** Shorter keys of somebody's own making are too easy to guess. Characters. */
const minStaticKeyLength = 20

/** What a key of somebody's own making must be; completes "expected …". */
export const staticKeyRule = `${minStaticKeyLength} characters or more, without control characters or spaces at its ends`

/** Whether a key of somebody's own making will do: long enough, and such that a header can carry it. */
export const isStaticKey = (key: unknown): key is string =>
  typeof key === "string" && Array.from(key).length >= minStaticKeyLength && key === key.trim() && !/\p{Cc}/u.test(key)

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** The key itself is answered here and nowhere else, ever. */
    readonly issue: (key: {
      readonly project: ProjectId
      readonly name: typeof Name.Type
      readonly scopes: ReadonlyArray<Scope>
      readonly expiresAt: DateTime.Utc | null
    }) => Effect.Effect<readonly [secret: Redacted.Redacted, key: ApiKey], StorageUnavailable>
    /** Undefined for a key that is unknown, revoked, expired or none at all. */
    readonly verify: (presented: Redacted.Redacted) => Effect.Effect<Principal | undefined, StorageUnavailable>
    /** The same as far as it can be told at once: undefined also for a key that would have to be looked up. */
    readonly known: (presented: Redacted.Redacted) => Principal | undefined
    readonly list: Effect.Effect<ReadonlyArray<ApiKey>, StorageUnavailable>
    /** Takes effect here at once, and in other processes within 10 s. Undefined if there is no such key. */
    readonly revoke: (id: string) => Effect.Effect<ApiKey | undefined, StorageUnavailable>
  }
>()("tachograph/core/ApiKeys") {
  /**
   * `staticKeys` are keys of somebody's own making: they open the project `default` with every scope and are not stored.
   * One that breaks `staticKeyRule` is a defect.
   */
  static readonly layer = (options?: {
    readonly staticKeys?: ReadonlyArray<Redacted.Redacted>
  }): Layer.Layer<ApiKeys, never, Storage> => Layer.effect(ApiKeys, make(options?.staticKeys ?? []))
}

const make = Effect.fnUntraced(function* (staticKeys: ReadonlyArray<Redacted.Redacted>) {
  const storage = yield* Storage
  if (!staticKeys.every((key) => isStaticKey(Redacted.value(key)))) {
    return yield* Effect.die(new Error(`A key of your own making does not fit: expected ${staticKeyRule}`))
  }
  const staticHashes = staticKeys.map((key) => sha256(Redacted.value(key), "utf8"))

  const cached = yield* Cache.makeWith((hash: string) => storage.findApiKey(Buffer.from(hash, "hex")), {
    capacity: cacheCapacity,
    // What was not found is asked for again, so that a new key works at once.
    timeToLive: (exit) => (Exit.isSuccess(exit) && exit.value !== undefined ? cacheTtl : Duration.zero)
  })

  const issue = Effect.fn("ApiKeys.issue")(function* ({ expiresAt, name, project, scopes }) {
    const secret = ApiKeyText.generate()
    const key = new ApiKey({
      id: `key_${ApiKeyText.randomBase62(12)}`,
      project,
      name,
      scopes,
      createdAt: yield* DateTime.now,
      expiresAt,
      revokedAt: null
    })
    yield* storage.putApiKey(key, sha256(secret, "utf8"))
    return [Redacted.make(secret), key] as const
  }) satisfies ApiKeys["Service"]["issue"]

  // A header's characters are bytes; a key that is not ASCII was sent as UTF-8.
  const hashOf = (presented: Redacted.Redacted): Buffer => sha256(Redacted.value(presented), "latin1")

  const isStatic = (presentedHash: Buffer): boolean =>
    staticHashes.some((known) => timingSafeEqual(known, presentedHash))

  const ifOpen = (key: ApiKey | undefined): Effect.Effect<Principal | undefined> =>
    key === undefined || key.revokedAt !== null
      ? Effect.undefined
      : Effect.map(Clock.currentTimeMillis, (now) =>
          key.expiresAt !== null && key.expiresAt.epochMilliseconds <= now ? undefined : key
        )

  const verify = Effect.fnUntraced(function* (presented: Redacted.Redacted) {
    const presentedHash = hashOf(presented)
    if (isStatic(presentedHash)) return everything
    if (!ApiKeyText.isWellFormed(Redacted.value(presented))) return undefined
    return yield* ifOpen(yield* Cache.get(cached, presentedHash.toString("hex")))
  })

  const runSync = Effect.runSyncWith(yield* Effect.context<never>())
  const known = (presented: Redacted.Redacted): Principal | undefined => {
    const presentedHash = hashOf(presented)
    if (isStatic(presentedHash)) return everything
    const found = Cache.getSuccess(cached, presentedHash.toString("hex"))
    return runSync(Effect.flatMap(found, (key) => ifOpen(Option.getOrUndefined(key))))
  }

  const revoke = Effect.fn("ApiKeys.revoke")(function* (id: string) {
    const key = yield* storage.revokeApiKey(id, yield* DateTime.now)
    yield* Cache.invalidateAll(cached)
    return key
  })

  return ApiKeys.of({ issue, verify, known, list: storage.listApiKeys, revoke })
})

const everything: Principal = { project: defaultProject, scopes: ["admin"] }

const sha256 = (text: string, encoding: "utf8" | "latin1") => hash("sha256", Buffer.from(text, encoding), "buffer")
