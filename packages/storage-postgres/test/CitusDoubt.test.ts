/** Transactions that a node of a cluster commits after they have ended for the coordinator. */
import {
  ApiKey,
  Audit,
  CurrentProject,
  defaultProject,
  derive,
  type DerivedPlace,
  type EventId,
  EventTime,
  PersonId,
  Recorder,
  SessionId,
  Storage,
  Throttle
} from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { Context, DateTime, Effect, Exit, Layer, Result, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { type PostgresConfig, PostgresStorage } from "../src/index.ts"
import { citusUrl, distributedSchema, skip } from "./CitusSchema.ts"
import * as SecondPhase from "./SecondPhase.ts"

const { Calls, NodeRows, StoreCheck } = StorageSuite

const call = (session: string, person: string): StorageSuite.Calls.Call => ({
  session,
  person,
  inputs: JSON.stringify({ said: `by ${person} in ${session}` }),
  output: "{}"
})

/** The error of what fails. */
const errorOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

/** What is wrong with what the events of the project add up to. */
const wrongSums = Effect.fnUntraced(function* (storage: Storage["Service"]) {
  const wrong: Array<string> = []
  for (let place: DerivedPlace | undefined; ;) {
    const { damage, next } = yield* storage.checkDerived(defaultProject, place)
    wrong.push(...damage)
    if (next === undefined) return wrong
    place = next
  }
})

if (citusUrl === undefined) skip("Transactions in doubt")
else {
  const emptySchema = distributedSchema(citusUrl)

  const open = Effect.fnUntraced(function* (config: PostgresConfig) {
    const layer = Layer.fresh(PostgresStorage.layer(config))
    const storage = yield* Effect.map(Layer.build(layer), (all) => Context.get(all, Storage))
    const recorder = yield* Effect.map(Layer.build(Calls.recorderOver(storage)), (all) => Context.get(all, Recorder))
    return { storage, recorder }
  })

  /** Runs a case with two servers, in whose database `anna` has an event in each of some sessions on each node. */
  const run = (
    test: (setup: {
      readonly phase: Effect.Success<ReturnType<typeof SecondPhase.make>>
      readonly storage: Storage["Service"]
      readonly recorder: Recorder["Service"]
      readonly other: Recorder["Service"]
      readonly sql: SqlClient.SqlClient
      readonly config: PostgresConfig & { readonly schema: string }
      /** Sessions on the node whose second phase fails, and on the others. */
      readonly there: ReadonlyArray<string>
      readonly elsewhere: ReadonlyArray<string>
    }) => Effect.Effect<void, unknown, Scope.Scope>
  ) =>
    Effect.gen(function* () {
      const config = yield* Effect.promise(emptySchema)
      const sql = yield* SqlClient.SqlClient
      const phase = yield* SecondPhase.make(citusUrl!)
      const { recorder, storage } = yield* open(config)
      const { recorder: other } = yield* open(config)
      yield* Calls.putFingerprint(storage, defaultProject)
      const sessions = Array.from({ length: 24 }, (_, n) => `session ${n}`)
      yield* Effect.forEach(sessions, (session) => Calls.record(recorder, call(session, "anna")))
      const rows = yield* sql<{ port: number; names: string }>`SELECT nodeport AS port, result AS names
        FROM run_command_on_placements(${`"${config.schema}".sessions`}, 'SELECT string_agg(session_id, '','') FROM %s')
        WHERE success AND result <> ''`
      const onNodes = (isWanted: (port: number) => boolean) =>
        rows.filter(({ port }) => isWanted(port)).flatMap(({ names }) => names.split(","))
      const there = onNodes((port) => port === phase.port)
      const elsewhere = onNodes((port) => port !== phase.port)
      expect([...there, ...elsewhere].sort()).toEqual([...sessions].sort())
      expect(Math.min(there.length, elsewhere.length)).toBeGreaterThan(1)
      yield* test({ phase, storage, recorder, other, sql, config, there, elsewhere })
      expect((yield* StoreCheck.look(storage, defaultProject)).problems).toEqual([])
    }).pipe(
      Effect.provideService(CurrentProject, defaultProject),
      Effect.scoped,
      Effect.provide(PostgresStorage.client({ url: citusUrl!, maxConnections: 1 })),
      Effect.runPromise
    )

  it("acknowledges no event that its node has only prepared, and none that needs a name of it", () =>
    run(({ elsewhere, other, phase, recorder, storage, there }) =>
      Effect.gen(function* () {
        const settledMs = Effect.map(storage.watermark(defaultProject), EventTime.of)
        const before = Date.now()
        const unsure = call(there[0]!, "somebody")
        const needing = [
          call(there[1]!, "somebody"),
          { ...call(there[1]!, "anna"), agent: "agent 8" },
          { ...call(there[1]!, "anna"), api: "provider2-messages" as const }
        ]
        const kept = call(elsewhere[0]!, "somebody")
        let acknowledged: EventId | undefined
        yield* phase.cut(
          Effect.gen(function* () {
            expect(yield* errorOf(Calls.record(recorder, unsure))).toBe("storage-unavailable")
            for (const each of needing) expect(yield* errorOf(Calls.record(other, each))).toBe("storage-unavailable")
            acknowledged = yield* Calls.record(other, kept)
            expect(yield* Calls.isAsSent(recorder, acknowledged, kept)).toBe(true)
            // What would change a row that the node has only prepared.
            expect(yield* errorOf(other.erasePerson(PersonId.make("somebody")))).toBe("storage-unavailable")
            expect(yield* errorOf(Calls.record(other, call(elsewhere[1]!, "somebody else")))).toBe(
              "storage-unavailable"
            )
            // Longer than what the watermark allows for the clocks.
            yield* Effect.sleep("1500 millis")
            expect(yield* settledMs).toBeLessThan(before)
          })
        )
        expect(yield* phase.recover).toBeGreaterThan(0)
        while ((yield* settledMs) < EventTime.of(acknowledged!)) yield* Effect.sleep("100 millis")
        const countIn = (session: string) =>
          Effect.map(
            StoreCheck.listAll(storage, defaultProject),
            (events) => events.filter((each) => each.session === session).length
          )
        expect(yield* countIn(unsure.session)).toBe(2)
        for (const each of needing) {
          const id = yield* Calls.record(other, each)
          expect(yield* Calls.isAsSent(recorder, id, each)).toBe(true)
          while ((yield* settledMs) < EventTime.of(id)) yield* Effect.sleep("100 millis")
        }
        expect(yield* countIn(there[1]!)).toBe(1 + needing.length)
        yield* derive(storage, defaultProject, Throttle.unthrottled)
        expect(yield* wrongSums(storage)).toEqual([])
        const summary = yield* storage.sessionSummary(defaultProject, SessionId.make(unsure.session))
        expect(summary).toMatchObject({ events: 2 })
      })
    ))

  it("waits with streams and sums for an event that a node commits after the coordinator has given it up", () =>
    run(({ elsewhere, other, phase, recorder, storage, there }) =>
      Effect.gen(function* () {
        const settledMs = Effect.map(storage.watermark(defaultProject), EventTime.of)
        const given = call(there[0]!, "anna")
        let begun = 0
        const [exit, acknowledged] = yield* phase.stall(
          Effect.gen(function* () {
            begun = Date.now()
            const recorded = Effect.exit(Calls.record(recorder, given))
            const [exit] = yield* Effect.all([recorded, phase.dropCommitting], { concurrency: 2 })
            const id = yield* Calls.record(other, call(elsewhere[0]!, "anna"))
            // Longer than what the watermark allows for the clocks.
            const end = Date.now() + 2_500
            while (Date.now() < end) {
              expect(yield* settledMs).toBeLessThan(begun)
              yield* Effect.sleep("50 millis")
            }
            return [exit, id] as const
          })
        )
        expect(Exit.isFailure(exit)).toBe(true)
        while ((yield* settledMs) < EventTime.of(acknowledged)) yield* Effect.sleep("100 millis")
        const events = yield* StoreCheck.listAll(storage, defaultProject)
        expect(events.filter((each) => each.session === given.session)).toHaveLength(2)
        yield* derive(storage, defaultProject, Throttle.unthrottled)
        expect(yield* wrongSums(storage)).toEqual([])
        expect(yield* storage.sessionSummary(defaultProject, SessionId.make(given.session))).toMatchObject({
          events: 2
        })
      })
    ))

  it("records on the other nodes while one ends no commit", () =>
    run(({ config, elsewhere, phase, storage, there }) =>
      Effect.gen(function* () {
        const impatient = yield* open({ ...config, operationTimeout: 2_000 })
        const record = (session: string) => Effect.exit(Calls.record(impatient.recorder, call(session, "anna")))
        const nodeOf = (session: string) => storage.nodes!.nodeOf(storage.nodes!.laneOf(SessionId.make(session)))
        const stalled = nodeOf(there[0]!)
        expect(nodeOf(elsewhere[0]!)).not.toBe(stalled)
        // More than there are connections, of which no two wait for the same row.
        const sessions = Array.from({ length: 60 }, (_, n) => `new session ${n}`).filter(
          (name) => nodeOf(name) === stalled
        )
        expect(sessions.length).toBeGreaterThan(12)
        const exits = yield* phase.stall(
          Effect.gen(function* () {
            const ofStalled = yield* Effect.forEach(sessions, record, { concurrency: 12 })
            expect(ofStalled.filter(Exit.isSuccess)).toEqual([])
            return yield* Effect.forEach(elsewhere, record, { concurrency: 2 })
          })
        )
        expect(exits.filter(Exit.isFailure)).toEqual([])
        // What waited for its commit may be there now.
        const events = yield* StoreCheck.listAll(storage, defaultProject)
        expect(events.length).toBeGreaterThanOrEqual(there.length + 2 * elsewhere.length)
      })
    ))

  it("says of no event that it is damaged while a node has only prepared its shared piece", () =>
    run(({ elsewhere, other, phase, recorder, storage }) =>
      Effect.gen(function* () {
        // Each of them is on one node or the other.
        const calls = elsewhere.slice(0, 8).map((session, n) => ({
          ...call(session, "anna"),
          api: "provider2-messages" as const,
          inputs: JSON.stringify({ model: "m", system: `${n} ${Calls.noise(n, 12_000)}`, messages: [] })
        }))
        const read = Effect.gen(function* () {
          const events = yield* StoreCheck.listAll(storage, defaultProject)
          return yield* Effect.forEach(events, ({ id }) => Effect.result(recorder.getEvent(id)))
        })
        const results = yield* phase.cut(
          Effect.gen(function* () {
            yield* Effect.forEach(calls, (each) => Effect.exit(Calls.record(other, each)))
            return yield* read
          })
        )
        const failures = results.flatMap((result) => (Result.isFailure(result) ? [result.failure._tag] : []))
        expect(new Set(failures)).toEqual(new Set(["storage-unavailable"]))
        expect(yield* phase.recover).toBeGreaterThan(0)
        expect((yield* read).filter(Result.isFailure)).toEqual([])
      })
    ))

  it("says of no erasure that it is done while a node has only prepared it", () =>
    run(({ config, other, phase, recorder, sql, there }) =>
      Effect.gen(function* () {
        const person = PersonId.make("anna")
        const erase = phase.cut(errorOf(recorder.erasePerson(person)))
        expect(yield* erase).toBe("storage-unavailable")
        expect(yield* erase).toBe("storage-unavailable")
        expect(yield* phase.recover).toBeGreaterThan(0)
        yield* recorder.erasePerson(person)
        expect(yield* NodeRows.countOnNodes(sql, config.schema, NodeRows.contains("anna"))).toEqual({})
        yield* Calls.record(other, call(there[0]!, "anna"))
      })
    ))

  it("says of no key that it is revoked while a node has only prepared it", () =>
    run(({ phase, storage }) =>
      Effect.gen(function* () {
        const now = yield* DateTime.now
        const hash = new Uint8Array(32).fill(7)
        const key = new ApiKey({
          ...{ id: "key", project: defaultProject, name: "a key", scopes: ["read"] },
          ...{ createdAt: now, expiresAt: null, revokedAt: null }
        })
        yield* storage.putApiKey(key, hash, yield* Audit.entry("key-created", "key"))
        const entry = yield* Audit.entry("key-revoked", "key")
        const revoked = phase.cut(errorOf(storage.revokeApiKey("key", now, entry)))
        expect(yield* revoked).toBe("storage-unavailable")
        expect(yield* revoked).toBe("storage-unavailable")
        expect(yield* phase.recover).toBeGreaterThan(0)
        expect((yield* storage.revokeApiKey("key", now, entry))?.revokedAt).toEqual(now)
        expect((yield* storage.findApiKey(hash))?.revokedAt).toEqual(now)
      })
    ))
}
