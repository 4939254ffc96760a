import { ApiKeyCacheTtl, ApiKeys, defaultProject, MemoryStorage, type Scope, Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import type * as Redacted from "effect/Redacted"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Authorizer } from "../../src/front/Authorizer.ts"
import * as KeyWatch from "../../src/front/KeyWatch.ts"
import type { RequestState } from "../../src/front/RequestState.ts"
import { TimedStream } from "../../src/front/TimedStream.ts"
import * as Answer from "../../src/response/Answer.ts"
import { BodyCut, type BodyStream } from "../../src/response/BodyStream.ts"

/** As many look-ups as there are keys: nothing expires while the test runs. */
let lookups = 0
const counted = Layer.effect(
  Storage,
  Effect.map(Storage, (storage) =>
    Storage.of({ ...storage, findApiKey: (hash) => Effect.suspend(() => (lookups++, storage.findApiKey(hash))) })
  )
).pipe(Layer.provide(MemoryStorage.layer))

const runtime = ManagedRuntime.make(
  Authorizer.layer.pipe(
    Layer.provideMerge(ApiKeys.layer()),
    Layer.provideMerge(counted),
    Layer.provideMerge(Layer.succeed(ApiKeyCacheTtl, "1 hour"))
  )
)
let watch: Effect.Success<typeof KeyWatch.make>["watch"]
beforeAll(async () => void ({ watch } = await runtime.runPromise(KeyWatch.make)))
afterAll(() => runtime.dispose())

const issue = (scopes: ReadonlyArray<Scope> = ["read"]) =>
  runtime.runPromise(
    Effect.flatMap(ApiKeys, ({ issue }) => issue({ project: defaultProject, name: "k", scopes, expiresAt: null }))
  )

/** Gives the pieces, and then waits for ever, as a stream without news does. */
const stream = (...pieces: ReadonlyArray<string>): BodyStream => {
  const rest = [...pieces]
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  return {
    next: async () => (rest.length > 0 ? Buffer.from(rest.shift()!) : promise),
    cancel: () => reject(new BodyCut())
  }
}

const follow = (body: BodyStream, headers: Readonly<Record<string, string>>, credential: Redacted.Redacted) => {
  const live = new TimedStream(body, 60_000, () => {})
  live.onEnd = watch({ credential } as RequestState, Answer.streamed(body, "application/x-ndjson", headers), live)
  return live
}

const withCursor = { "tachograph-cursor": "c" }

const revoke = (id: string) => runtime.runPromise(Effect.flatMap(ApiKeys, ({ revoke }) => revoke(id)))

describe("An answer that is made while it is taken, whose key is revoked", () => {
  it("ends after a line where there is a cursor, and is cut where there is none", async () => {
    const [secret, { id }] = await issue()
    lookups = 0
    const bodies = Array.from({ length: 20 }, () => follow(stream("\n"), withCursor, secret))
    const whole = follow(stream("{}\n", "{}\n"), withCursor, secret)
    const within = follow(stream("{", "}\n"), withCursor, secret)
    const cut = follow(stream("{}\n"), {}, secret)
    for (const body of [...bodies, whole, within, cut]) await body.next()
    const next = [bodies[0]!.next(), cut.next()]
    await revoke(id)
    expect(await next[0]).toBeUndefined()
    await expect(next[1]).rejects.toThrow(BodyCut)
    // What has begun is completed.
    expect(Buffer.from((await within.next())!).toString()).toBe("}\n")
    for (const body of [within, whole, ...bodies.slice(1)]) expect(await body.next()).toBeUndefined()
    // One for all of them, after the revocation.
    expect(lookups).toBeLessThanOrEqual(2)
  })
})
