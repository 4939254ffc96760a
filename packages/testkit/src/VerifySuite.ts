/**
 * What a verification finds in a SQL storage: each kind of damage, exactly the events that reads refuse, and nothing in a
 * healthy store while others record and erase. `VerifySuite.run("my storage", () => layer)` in a vitest file; the layer opens
 * an empty storage, and a client of its database.
 */
import { CurrentProject, PersonId, type ProjectId, Recorder, SessionId, Storage, Uuid } from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { SqlClient, SqlError } from "effect/sql"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Calls from "./check/Calls.ts"
import { stepOf } from "./check/Steps.ts"
import * as Verifying from "./check/Verifying.ts"
import * as RandomJson from "./RandomJson.ts"
import { seed } from "./TestSeed.ts"
import { damages } from "./verify/Damages.ts"
import * as Flips from "./verify/Flips.ts"
import * as Rows from "./verify/Rows.ts"
import * as Store from "./verify/Store.ts"

export { damages } from "./verify/Damages.ts"
export * as Rows from "./verify/Rows.ts"
export * as Store from "./verify/Store.ts"

type Services = Storage | SqlClient.SqlClient

/** Calls that are recorded while a verification runs. */
const concurrentCalls = 90

const idOf = (stored: Rows.Value | undefined): string =>
  typeof stored === "string" ? stored : Uuid.fromBytes(stored as Uint8Array)

/** Verifies while rows are changed. Returns what was found, and which events reads refuse. */
const verifyChanged = (changes: ReadonlyArray<Rows.Change>) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const sql = yield* SqlClient.SqlClient
    return yield* Rows.changing(
      sql,
      changes,
      Effect.gen(function* () {
        const verified = yield* Verifying.verify(storage)
        const events = yield* Rows.select(sql, "events")
        const refused = yield* Effect.forEach(yield* Rows.select(sql, "projects"), ({ project_id, project_name }) => {
          const ids = events.filter((row) => row["project_id"] === project_id).map((row) => idOf(row["event_id"]))
          return Verifying.refusedOf(storage, project_name as ProjectId, ids)
        })
        return { ...verified, refused: refused.flat().sort() }
      })
    )
  })

const problemsOf = ({ findings }: Verifying.Verified) =>
  Array.from(new Set(findings.map(({ problem }) => problem))).sort()

/** Records into three sessions calls of the last years, erases people and sessions from them, and adds some of them up. */
const recordAndErase = (storage: Storage["Service"]) =>
  Effect.gen(function* () {
    yield* Calls.putFingerprint(storage, yield* CurrentProject)
    const recorder = yield* Recorder
    const next = Calls.random(seed)
    const sessions = ["red", "green", "blue"]
    const people = ["alice", "bob", "carol"]
    const conversations = sessions.map((session, index) => Calls.calls(session, people, seed + index))
    const record = Effect.gen(function* () {
      for (let n = 0; n < concurrentCalls; n++) {
        const call = conversations[next(sessions.length)]!.next().value
        const session = SessionId.make(call.session)
        const occurredAt = next(3) > 0 ? null : DateTime.subtract(yield* DateTime.now, { hours: next(20_000) })
        yield* Calls.record(recorder, { ...call, occurredAt })
        const steps = [stepOf(2 * n + 1), stepOf(2 * n + 2)]
        const person = PersonId.make(call.person)
        // It may have been erased meanwhile.
        yield* Effect.catchTag(recorder.recordSteps({ session, person, steps }), "session-not-found", () => Effect.void)
      }
    })
    const recording = yield* Effect.forkChild(Effect.all([record, record], { concurrency: 2, discard: true }))
    while (recording.pollUnsafe() === undefined) {
      yield* Effect.sleep(next(60))
      yield* storage.deriveEvents(yield* CurrentProject, yield* storage.watermark(yield* CurrentProject), next(40) + 1)
      const erase: Effect.Effect<unknown, unknown> =
        next(4) === 0
          ? recorder.eraseSession(SessionId.make(sessions[next(sessions.length)]!))
          : recorder.erasePerson(PersonId.make(people[next(people.length)]!))
      yield* Effect.ignore(erase)
    }
    return yield* Fiber.join(recording)
  }).pipe(Effect.provide(Calls.recorderOver(storage)))

/** One damage for each answer of a verification, for a database after another one that has all of them. */
const oneForEachAnswer = Array.from(
  Map.groupBy(damages, ({ lost, problems }) => JSON.stringify([problems, lost])).values(),
  ([damage]) => damage!
)

export const run = (
  name: string,
  layer: () => Layer.Layer<Services, unknown>,
  { isThorough = true }: { readonly isThorough?: boolean } = {}
) => {
  describe(`VerifySuite: ${name}, seed ${seed}`, () => {
    let runtime: ManagedRuntime.ManagedRuntime<Services, unknown>
    let tables: Rows.Tables
    beforeAll(async () => {
      runtime = ManagedRuntime.make(layer())
      tables = await runtime.runPromise(
        Effect.gen(function* () {
          yield* Store.fill(yield* Storage)
          return yield* Rows.selectAll(yield* SqlClient.SqlClient)
        })
      )
    })
    afterAll(() => runtime.dispose())

    it("finds nothing wrong in a healthy store", async () => {
      const { counts, findings, refused } = await runtime.runPromise(verifyChanged([]))
      expect([findings, refused]).toEqual([[], []])
      expect(counts).toMatchObject({ projects: 2, sessions: 5, pendingErasures: 1, problems: 0, unsettled: 0 })
      expect(counts.events).toBe(tables.events.length)
      expect(counts.packs).toBe(tables.packs.length)
      expect(counts.sharedPieces).toBe(tables.shared_pieces.length)
    })

    it.each(isThorough ? damages : oneForEachAnswer)("finds that $name", async ({ change, lost, problems }) => {
      const verified = await runtime.runPromise(verifyChanged(change(tables)))
      expect(problemsOf(verified), JSON.stringify(verified.findings, null, 1)).toEqual([...problems].sort())
      expect(Verifying.damagedOf(verified)).toEqual(verified.refused)
      expect(verified.counts).toMatchObject({
        problems: verified.findings.length,
        damagedEvents: verified.refused.length
      })
      for (const finding of verified.findings)
        expect(finding.lost).toBe(finding.problem === "event-damaged" ? lost : undefined)
    })

    it("names exactly the events that reads refuse, whichever bits differ", async () => {
      const dealt = Flips.dealt(Calls.random(seed))
      for (let n = 0; n < RandomJson.runs(Flips.everyColumn); n++) {
        const property = fc.asyncProperty(dealt.next().value, async (flips) => {
          // Null if the changed keys are those of other rows.
          const verified = await runtime.runPromise(
            Effect.catchIf(
              verifyChanged(Flips.changesOf(tables, flips)),
              (error) => SqlError.isSqlError(error),
              () => Effect.succeed(null)
            )
          )
          if (verified === null) return
          expect(Verifying.damagedOf(verified)).toEqual(verified.refused)
          expect(verified.refused).toEqual(expect.arrayContaining(Flips.refusedBy(tables, flips).map(idOf)))
          if (flips.length === 1 && flips[0]!.isAlwaysFound) expect(verified.findings).not.toEqual([])
        })
        await fc.assert(property, { numRuns: 1, seed: seed + n })
      }
    })

    it("has left the store as it was", async () => {
      expect(await runtime.runPromise(Effect.flatMap(SqlClient.SqlClient, Rows.selectAll))).toEqual(tables)
    })
  })

  it(`VerifySuite: ${name}, seed ${seed}: finds nothing wrong while others record and erase`, async () => {
    const runtime = ManagedRuntime.make(layer())
    const { rounds, shown } = await runtime.runPromise(
      Effect.gen(function* () {
        const storage = yield* Storage
        const others = yield* Effect.forkChild(recordAndErase(storage))
        const shown: Array<string> = []
        let rounds = 0
        for (let isLast = false; !isLast; rounds++) {
          isLast = others.pollUnsafe() !== undefined
          shown.push(...Verifying.shown(yield* Verifying.verify(storage)))
        }
        yield* Fiber.join(others)
        return { rounds, shown }
      })
    )
    expect(shown).toEqual([])
    expect(rounds).toBeGreaterThan(1)
    await runtime.dispose()
  })
}
