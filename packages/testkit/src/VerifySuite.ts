/**
 * What a verification finds in a SQL storage: each kind of damage, exactly the events that reads refuse, and nothing in a
 * healthy store while others record and erase. `VerifySuite.run("my storage", () => layer)` in a vitest file; the layer opens
 * an empty storage each time, and a client of its database.
 */
import { Storage, Uuid } from "@tachograph/core"
import { Effect, type Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Verifying from "./check/Verifying.ts"
import { damages, type Tables } from "./verify/Damages.ts"
import * as Rows from "./verify/Rows.ts"
import * as Store from "./verify/Store.ts"

type Services = Storage | SqlClient.SqlClient

const selectAll = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const tables: Partial<Record<Rows.Table, ReadonlyArray<Rows.Row>>> = {}
  for (const table of Object.keys(Rows.keys) as Array<Rows.Table>) tables[table] = yield* Rows.select(sql, table)
  return tables as Tables
})

const idOf = (stored: Rows.Value | undefined): string =>
  typeof stored === "string" ? stored : Uuid.fromBytes(stored as Uint8Array)

/** Verifies while rows are changed. Returns what was found, and which events of the project reads refuse. */
const verifyChanged = (changes: ReadonlyArray<Rows.Change>) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const sql = yield* SqlClient.SqlClient
    return yield* Rows.changing(
      sql,
      changes,
      Effect.gen(function* () {
        const verified = yield* Verifying.verify(storage)
        const [own] = yield* Rows.select(sql, "projects")
        const events = yield* Rows.select(sql, "events")
        const ids = events.filter((row) => row["project_id"] === own!["project_id"]).map((row) => idOf(row["event_id"]))
        return { ...verified, refused: yield* Verifying.refusedOf(storage, ids) }
      })
    )
  })

const problemsOf = ({ findings }: Verifying.Verified) =>
  Array.from(new Set(findings.map(({ problem }) => problem))).sort()

export const run = (name: string, layer: () => Layer.Layer<Services, unknown>) => {
  describe(`VerifySuite: ${name}`, () => {
    let runtime: ManagedRuntime.ManagedRuntime<Services, unknown>
    let tables: Tables
    beforeAll(async () => {
      runtime = ManagedRuntime.make(layer())
      tables = await runtime.runPromise(
        Effect.gen(function* () {
          yield* Store.fill(yield* Storage)
          return yield* selectAll(yield* SqlClient.SqlClient)
        })
      )
    })
    afterAll(() => runtime.dispose())

    it("finds nothing wrong in a healthy store", async () => {
      const { counts, findings, refused } = await runtime.runPromise(verifyChanged([]))
      expect([findings, refused]).toEqual([[], []])
      expect(counts).toMatchObject({ projects: 2, sessions: 4, pendingErasures: 1, problems: 0, unsettled: 0 })
      expect(counts.events).toBe(tables.events.length)
      expect(counts.packs).toBe(tables.packs.length)
      expect(counts.sharedPieces).toBe(tables.shared_pieces.length)
    })

    it.each(damages)("finds that $name", async ({ change, lost, problems }) => {
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
  })
}
