import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Effect, Layer, Redacted, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { ApiKeyCacheTtl, ApiKeys, isSignIn } from "../../src/keys/ApiKeys.ts"
import { ProjectId } from "../../src/domain/Project.ts"
import * as MemoryStorage from "../../src/memory/MemoryStorage.ts"
import { Storage } from "../../src/Storage.ts"

const acme = ProjectId.make("acme")
const newKey = { project: acme, name: "a key", scopes: ["record", "read"], expiresAt: null } as const
const newPrincipal = { project: acme, scopes: ["record", "read"] } as const
const staticKey = "é".repeat(20)

/** Two processes over one storage. */
const twoProcesses = Effect.gen(function* () {
  const storage = Layer.succeed(Storage, yield* Storage)
  const process = Effect.map(Layer.build(Layer.fresh(ApiKeys.layer()).pipe(Layer.provide(storage))), (context) =>
    Effect.provide(ApiKeys, context)
  )
  return [yield* yield* process, yield* yield* process] as const
})

const test = (name: string, body: Effect.Effect<void, unknown, ApiKeys | Storage | Scope.Scope>) =>
  it.effect(name, () =>
    body.pipe(
      Effect.scoped,
      Effect.provide(
        ApiKeys.layer({ staticKeys: [Redacted.make(staticKey)] }).pipe(Layer.provideMerge(MemoryStorage.layer))
      )
    )
  )

describe("ApiKeys", () => {
  test(
    "an issued key grants its scopes in its project",
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const [secret, key] = yield* keys.issue(newKey)
      const principal = yield* keys.verify(secret)
      assert.deepStrictEqual([principal?.project, principal?.scopes], [acme, ["record", "read"]])
      assert.deepStrictEqual(yield* keys.list, [key])
      assert.notInclude(JSON.stringify(key), Redacted.value(secret))
      assert.notInclude(String(secret), Redacted.value(secret))
    })
  )

  test(
    "the key of a person who has signed in is told apart, and acts in the name of the person",
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const [ofProgram, program] = yield* keys.issue({ ...newKey, name: "a program" })
      const [ofPerson, person] = yield* keys.issue({ ...newKey, name: "ann@example.com", isSignIn: true })
      assert.deepStrictEqual([isSignIn(program), isSignIn(person)], [false, true])
      assert.strictEqual((yield* keys.verify(ofProgram))?.id, program.id)
      assert.deepStrictEqual(yield* keys.verify(ofPerson), { ...newPrincipal, id: "ann@example.com" })
      assert.strictEqual(keys.known(ofPerson)?.id, "ann@example.com")
      yield* keys.revoke(person.id)
      assert.isUndefined(yield* keys.verify(ofPerson))
    })
  )

  test(
    "sign-ins that have expired are deleted with the next one, and no other keys",
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const expiresAt = DateTime.add(yield* DateTime.now, { hours: 12 })
      const [, program] = yield* keys.issue({ ...newKey, expiresAt })
      const [, ended] = yield* keys.issue({ ...newKey, expiresAt, isSignIn: true })
      yield* TestClock.adjust("11 hours")
      const later = DateTime.add(expiresAt, { hours: 12 })
      const [, next] = yield* keys.issue({ ...newKey, expiresAt: later, isSignIn: true })
      assert.sameMembers(
        Array.from(yield* keys.list, ({ id }) => id),
        [program.id, ended.id, next.id]
      )
      yield* TestClock.adjust("1 hour")
      const [, last] = yield* keys.issue({ ...newKey, expiresAt: later, isSignIn: true })
      assert.sameMembers(
        Array.from(yield* keys.list, ({ id }) => id),
        [program.id, next.id, last.id]
      )
    })
  )

  test(
    "stores only the hash of a key",
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const storage = yield* Storage
      const stored: Array<unknown> = []
      const spy = Storage.of({
        ...storage,
        putApiKey: (key, hash, entry) => {
          stored.push(key, Buffer.from(hash).toString("latin1"))
          return storage.putApiKey(key, hash, entry)
        }
      })
      const [secret] = yield* Effect.flatMap(ApiKeys, ({ issue }) => issue(newKey)).pipe(
        Effect.provide(Layer.fresh(ApiKeys.layer()).pipe(Layer.provide(Layer.succeed(Storage, spy))))
      )
      assert.strictEqual(stored.length, 2)
      assert.notInclude(JSON.stringify(stored), Redacted.value(secret).slice(3, 20))
      assert.isDefined(yield* keys.verify(secret))
    })
  )

  test(
    "a key expires at its exact millisecond",
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const expiresAt = DateTime.add(yield* DateTime.now, { seconds: 5 })
      const [secret] = yield* keys.issue({ ...newKey, expiresAt })
      yield* TestClock.adjust(4_999)
      assert.isDefined(yield* keys.verify(secret))
      assert.isDefined(keys.known(secret))
      yield* TestClock.adjust(1)
      assert.isUndefined(yield* keys.verify(secret))
      assert.isUndefined(keys.known(secret))
    })
  )

  test(
    "a revoked key is refused at once by the same process, and within 10 s by others",
    Effect.gen(function* () {
      const [here, there] = yield* twoProcesses
      const [secret, { id }] = yield* here.issue(newKey)
      assert.isDefined(yield* here.verify(secret))
      assert.isDefined(yield* there.verify(secret))
      const revoked = yield* here.revoke(id)
      assert.isNotNull(revoked?.revokedAt)
      assert.isUndefined(yield* here.verify(secret))
      assert.isUndefined(here.known(secret))
      yield* TestClock.adjust(10_000)
      assert.isUndefined(there.known(secret))
      assert.isUndefined(yield* there.verify(secret))
      assert.isUndefined(yield* here.revoke("key_none"))
    })
  )

  test(
    "ApiKeyCacheTtl sets how long a key is cached, 8 s by default",
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const storage = Layer.succeed(Storage, yield* Storage)
      const [secret] = yield* keys.issue(newKey)
      const ttlOf = Effect.fnUntraced(function* (process: ApiKeys["Service"]) {
        yield* process.verify(secret)
        let ms = 0
        for (; process.known(secret) !== undefined; ms += 100) yield* TestClock.adjust(100)
        return ms
      })
      const context = yield* Layer.build(Layer.fresh(ApiKeys.layer()).pipe(Layer.provide(storage))).pipe(
        Effect.provideService(ApiKeyCacheTtl, "300 millis")
      )
      assert.strictEqual(yield* ttlOf(keys), 8_000)
      assert.strictEqual(yield* ttlOf(Context.get(context, ApiKeys)), 300)
    })
  )

  test(
    "a key issued by another process works at once",
    Effect.gen(function* () {
      const [here, there] = yield* twoProcesses
      const [secret] = yield* here.issue(newKey)
      assert.isDefined(yield* there.verify(secret))
    })
  )

  test(
    "a key is looked up once and then cached; a malformed key is never looked up",
    Effect.gen(function* () {
      const storage = yield* Storage
      let lookups = 0
      const counting = Storage.of({
        ...storage,
        findApiKey: (hash) => Effect.suspend(() => (lookups++, storage.findApiKey(hash)))
      })
      yield* Effect.gen(function* () {
        const keys = yield* ApiKeys
        const [secret] = yield* keys.issue(newKey)
        assert.isUndefined(keys.known(secret))
        for (let n = 0; n < 100; n++) yield* keys.verify(secret)
        assert.strictEqual(keys.known(secret)?.project, acme)
        assert.strictEqual(lookups, 1)
        const text = Redacted.value(secret)
        const typo = text.slice(0, -1) + (text.endsWith("0") ? "1" : "0")
        for (const wrong of [typo, "", "x".repeat(10_000)]) {
          assert.isUndefined(yield* keys.verify(Redacted.make(wrong)))
        }
        assert.strictEqual(lookups, 1)
      }).pipe(Effect.provide(Layer.fresh(ApiKeys.layer()).pipe(Layer.provide(Layer.succeed(Storage, counting)))))
    })
  )

  test(
    "a static key grants every scope in the project default, and is not stored",
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      // The configured text arrives as UTF-8 bytes, which Node decodes as Latin-1.
      const asHeader = Buffer.from(staticKey).toString("latin1")
      const principal = yield* keys.verify(Redacted.make(asHeader))
      assert.deepStrictEqual(principal, {
        project: ProjectId.make("default"),
        scopes: ["admin"],
        id: "static key"
      })
      assert.strictEqual(keys.known(Redacted.make(asHeader)), principal)
      assert.isUndefined(yield* keys.verify(Redacted.make(asHeader.slice(1))))
      assert.isUndefined(keys.known(Redacted.make(asHeader.slice(1))))
      assert.deepStrictEqual(yield* keys.list, [])
    })
  )
})
