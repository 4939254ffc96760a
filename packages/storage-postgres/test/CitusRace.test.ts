/** The race of `Race.test.ts` on a cluster. Then everything is erased, and no node has anything left of it. */
import { CurrentProject, type EventSummary, Recorder, Storage } from "@tachograph/core"
import { StorageSuite, TestSeed } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { bundle } from "../../../scripts/vitest/Program.ts"
import { PostgresStorage } from "../src/index.ts"
import { citusUrl, distributedSchema, drop, skip } from "./CitusSchema.ts"

const { Calls, NodeRows, Race, StoreCheck, TableCheck } = StorageSuite
const seconds = Number(process.env["RACE_SECONDS"] ?? 2)
const { seed } = TestSeed

/** Tables with rows of the project. */
const ofProject = [
  ...["agent_usage", "agents", "agent_versions", "audit_log", "event_kinds", "fingerprints", "projects"],
  ...["rollups", "session_counters", "storage_usage", "tachograph_migrations"]
]

const eraseAll = Effect.fnUntraced(function* (events: ReadonlyArray<EventSummary>) {
  const recorder = yield* Recorder
  yield* Effect.forEach(new Set(events.map(({ session }) => session)), recorder.eraseSession)
  yield* Effect.forEach(new Set(events.flatMap(({ person }) => person ?? [])), recorder.erasePerson)
})

if (citusUrl === undefined) skip("Race of two processes")
else {
  const program = await bundle("postgres-race", new URL("fixtures/race.ts", import.meta.url))
  const emptySchema = distributedSchema(citusUrl)

  it(
    `keeps everything that was acknowledged and not erased, and nothing else, for ${seconds} s, seed ${seed}`,
    { timeout: 300_000 + 4_000 * seconds },
    async () => {
      const config = await emptySchema()
      const schema = config.schema
      const copy = `${schema}_copy`
      const start = (role: StorageSuite.Race.Role, seed: number) =>
        program.run(config.url, schema, role, String(seed), String(1000 * seconds))
      const printed = await Promise.all([start("record", seed), start("record", seed + 1), start("erase", seed)])
      const test = Effect.gen(function* () {
        const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
        const verdict = yield* Race.judge(storage, printed.join(""))
        yield* NodeRows.copyTo(sql, schema, copy)
        const copied = PostgresStorage.client({ ...config, schema: copy, maxConnections: 1 })
        const stray = yield* Effect.provide(Effect.flatMap(SqlClient.SqlClient, TableCheck.look), copied)
        expect([...verdict.wrong, ...stray]).toEqual([])
        expect(verdict.recorded).toBeGreaterThan(20)
        expect(verdict.erasures).toBeGreaterThan(0)

        const project = yield* CurrentProject
        const events = yield* StoreCheck.listAll(storage, project)
        expect(events.length).toBe(verdict.left)
        yield* Effect.provide(eraseAll(events), Calls.recorderOver(storage))
        const left = Object.keys(yield* NodeRows.countOnNodes(sql, schema, "true"))
        expect(left.filter((table) => !ofProject.includes(table))).toEqual([])
        expect(yield* NodeRows.countOnNodes(sql, schema, "series <> 0", ["rollups"])).toEqual({})
        expect(yield* NodeRows.countOnNodes(sql, schema, "session_number <> 0", ["storage_usage"])).toEqual({})
      })
      const layers = Layer.merge(PostgresStorage.layer(config), PostgresStorage.client(config))
      await Effect.runPromise(Effect.ensuring(Effect.provide(test, layers), drop(config.url, copy)))
    }
  )
}
