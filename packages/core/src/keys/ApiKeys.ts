/** Issues, verifies and revokes API keys. A key opens one project, with the scopes it was issued with. */
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { hash, timingSafeEqual } from "node:crypto"
import * as Audit from "../audit/Audit.ts"
import * as ApiKeyText from "./ApiKeyText.ts"
import { ApiKey, type Scope } from "../domain/ApiKey.ts"
import type { StorageUnavailable } from "../domain/Errors.ts"
import type { Name } from "../domain/Name.ts"
import { defaultProject, type ProjectId } from "../domain/Project.ts"
import type { Storage } from "../Storage.ts"
import { KeyStorage } from "./KeyStorage.ts"

/** What a valid key allows: requests in one project, within its scopes. */
export interface Principal {
  readonly project: ProjectId
  readonly scopes: ReadonlyArray<Scope>
  /** Who it is, for the audit log: the id of a key, the name of a person who has signed in, or a few words. */
  readonly id: string
}

/** How the id of a key begins which stands for a person who has signed in, and is named after them. Only the server has it. */
const signInPrefix = "signin_"

export const isSignIn = ({ id }: Pick<ApiKey, "id">): boolean => id.startsWith(signInPrefix)

/** Erasures by several keys of one person are of that person. */
const principalOf = (key: ApiKey): Principal =>
  isSignIn(key) ? { project: key.project, scopes: key.scopes, id: key.name } : key

/**
 * How long a key that was found is cached. A revocation takes effect in other processes within 10 s; the default of 8 s
 * leaves 2 s for a lookup that is in flight.
 */
export const ApiKeyCacheTtl = Context.Reference<Duration.Input>("tachograph/core/ApiKeyCacheTtl", {
  defaultValue: () => Duration.seconds(8)
})

/** Maximum number of cached keys; the least recently used is evicted first. */
const cacheCapacity = 10_000

/** Minimum length of a static key, in characters: shorter ones are easy to guess. */
const minStaticKeyLength = 20

/** The requirements for a static key; completes "expected …". */
export const staticKeyRule = `${minStaticKeyLength} characters or more, without control characters or spaces at its ends`

/** Whether a static key is long enough and fits into a header. */
export const isStaticKey = (key: unknown): key is string =>
  typeof key === "string" && Array.from(key).length >= minStaticKeyLength && key === key.trim() && !/\p{Cc}/u.test(key)

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /**
     * Stores a new key and returns its secret, which cannot be read again. `isSignIn` says that it stands for a person: those that have
     * expired are deleted then.
     */
    readonly issue: (key: {
      readonly project: ProjectId
      readonly name: typeof Name.Type
      readonly scopes: ReadonlyArray<Scope>
      readonly expiresAt: DateTime.Utc | null
      readonly isSignIn?: boolean
    }) => Effect.Effect<readonly [secret: Redacted.Redacted, key: ApiKey], StorageUnavailable>
    /** Returns undefined for a key that is malformed, unknown, revoked or expired. */
    readonly verify: (presented: Redacted.Redacted) => Effect.Effect<Principal | undefined, StorageUnavailable>
    /** Like `verify`, but synchronous: also returns undefined for a key that is not cached. */
    readonly known: (presented: Redacted.Redacted) => Principal | undefined
    readonly list: Effect.Effect<ReadonlyArray<ApiKey>, StorageUnavailable>
    /** Takes effect in this process at once, in others within 10 s. Returns undefined for an unknown id. */
    readonly revoke: (id: string) => Effect.Effect<ApiKey | undefined, StorageUnavailable>
  }
>()("tachograph/core/ApiKeys") {
  /**
   * `staticKeys` come from configuration: they grant every scope in the project `default` and are not stored. A key that
   * breaks `staticKeyRule` is a defect.
   */
  static readonly layerNoDeps = (options?: {
    readonly staticKeys?: ReadonlyArray<Redacted.Redacted>
  }): Layer.Layer<ApiKeys, never, KeyStorage> => Layer.effect(ApiKeys, make(options?.staticKeys ?? []))

  static readonly layer = (options?: {
    readonly staticKeys?: ReadonlyArray<Redacted.Redacted>
  }): Layer.Layer<ApiKeys, never, Storage> => this.layerNoDeps(options).pipe(Layer.provide(KeyStorage.layer))
}

const make = Effect.fnUntraced(function* (staticKeys: ReadonlyArray<Redacted.Redacted>) {
  const storage = yield* KeyStorage
  if (!staticKeys.every((key) => isStaticKey(Redacted.value(key)))) {
    return yield* Effect.die(new Error(`A static key is invalid: expected ${staticKeyRule}`))
  }
  const staticHashes = staticKeys.map((key) => sha256(Redacted.value(key), "utf8"))

  const cacheTtl = yield* ApiKeyCacheTtl
  const cached = yield* Cache.makeWith((hash: string) => storage.findApiKey(Buffer.from(hash, "hex")), {
    capacity: cacheCapacity,
    // A missing key is not cached, so that a key issued by another process works at once.
    timeToLive: (exit) => (Exit.isSuccess(exit) && exit.value !== undefined ? cacheTtl : Duration.zero)
  })

  const issue = Effect.fn("ApiKeys.issue")(function* ({ expiresAt, isSignIn = false, name, project, scopes }) {
    const secret = ApiKeyText.generate()
    const createdAt = yield* DateTime.now
    const key = new ApiKey({
      id: `${isSignIn ? signInPrefix : "key_"}${ApiKeyText.randomBase62(12)}`,
      project,
      name,
      scopes,
      createdAt,
      expiresAt,
      revokedAt: null
    })
    // People sign in every day. Those who have signed out stay as long: a copy of the storage is to learn that they have.
    if (isSignIn) yield* storage.deleteExpiredApiKeys(signInPrefix, createdAt)
    yield* storage.putApiKey(key, sha256(secret, "utf8"), yield* Audit.entry("key-created", key.id))
    return [Redacted.make(secret), key] as const
  }) satisfies ApiKeys["Service"]["issue"]

  // Node decodes headers as Latin-1, so this restores the bytes that the client sent.
  const hashOf = (presented: Redacted.Redacted): Buffer => sha256(Redacted.value(presented), "latin1")

  const isStatic = (presentedHash: Buffer): boolean =>
    staticHashes.some((staticHash) => timingSafeEqual(staticHash, presentedHash))

  const ifActive = (key: ApiKey | undefined): Effect.Effect<Principal | undefined> =>
    key === undefined || key.revokedAt !== null
      ? Effect.undefined
      : Effect.map(Clock.currentTimeMillis, (now) =>
          key.expiresAt !== null && key.expiresAt.epochMilliseconds <= now ? undefined : principalOf(key)
        )

  const verify = Effect.fnUntraced(function* (presented: Redacted.Redacted) {
    const presentedHash = hashOf(presented)
    if (isStatic(presentedHash)) return staticPrincipal
    if (!ApiKeyText.isWellFormed(Redacted.value(presented))) return undefined
    return yield* ifActive(yield* Cache.get(cached, presentedHash.toString("hex")))
  })

  const runSync = Effect.runSyncWith(yield* Effect.context<never>())
  const known = (presented: Redacted.Redacted): Principal | undefined => {
    const presentedHash = hashOf(presented)
    if (isStatic(presentedHash)) return staticPrincipal
    const lookup = Cache.getSuccess(cached, presentedHash.toString("hex"))
    return runSync(Effect.flatMap(lookup, (key) => ifActive(Option.getOrUndefined(key))))
  }

  const revoke = Effect.fn("ApiKeys.revoke")(function* (id: string) {
    const key = yield* storage.revokeApiKey(id, yield* DateTime.now, yield* Audit.entry("key-revoked", id))
    yield* Cache.invalidateAll(cached)
    return key
  })

  return ApiKeys.of({ issue, verify, known, list: storage.listApiKeys, revoke })
})

const staticPrincipal: Principal = { project: defaultProject, scopes: ["admin"], id: "static key" }

const sha256 = (text: string, encoding: "utf8" | "latin1") => hash("sha256", Buffer.from(text, encoding), "buffer")
