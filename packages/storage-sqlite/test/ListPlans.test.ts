/** Which indexes lists use: SQLite does not say how many rows it has read. */
import { ProjectId, Storage } from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { SqliteClient, SqliteStorage } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

const { ManyEvents, ManyNames, ManySessions, Statements } = StorageSuite
const project = ProjectId.make("default")
const events = 1_000

/** Ways to read events that read no others: a range of ids in an index, the next number in it, or an event by its id. */
const allowed = [
  /^SEARCH e USING (COVERING )?INDEX events_by_\w+ \(project_id=\? AND \w+=\? AND \w+=\?( AND event_id[<>]\?){0,2}\)$/,
  /^SEARCH e USING COVERING INDEX events_by_\w+ \(project_id=\? AND \w+=\?( AND \w+>\?)?\)$/,
  /^SEARCH events USING PRIMARY KEY \(project_id=\? AND event_id=\?\)$/
]

it("lists in the order of an index, and searches it for each number", async () => {
  const filename = temporaryFile()
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    yield* ManyEvents.fill(storage, events)
    for (const [name, filter] of Object.entries({ ...ManyEvents.exact, ...ManyEvents.intersections })) {
      for (const page of ManyEvents.pagesOf(events, 20)) {
        const [, statements] = yield* Statements.capture(storage.listEvents(project, { ...filter, ...page }))
        for (const { parameters, text } of statements) {
          const plan = yield* sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${text}`, parameters)
          const details = plan.map(({ detail }) => detail)
          const ofEvents = details.filter((detail) => /^(SEARCH|SCAN) (e|events) USING /.test(detail))
          expect(
            ofEvents.filter((detail) => !allowed.some((way) => way.test(detail))),
            name
          ).toEqual([])
          // What is scanned is the result of a query within the statement.
          const scans = details.filter((detail) => /^SCAN (e|events)$/.test(detail))
          expect(scans.length, name).toBeLessThanOrEqual(details.filter((detail) => detail === "CO-ROUTINE e").length)
          // Only the heads of streams are sorted.
          if (!text.startsWith("WITH RECURSIVE")) expect(details.join("\n"), name).not.toContain("TEMP B-TREE")
        }
      }
    }
    for (const filter of ManyEvents.unknown) {
      const query = { ...filter, order: "asc", limit: 20 } as const
      const [found, statements] = yield* Statements.capture(storage.listEvents(project, query))
      expect(found).toEqual([])
      expect(statements.filter(({ text }) => /\bevents\b/.test(text))).toEqual([])
    }
  })
  const layers = Layer.provideMerge(SqliteStorage.layer({ filename }), SqliteClient.layer({ filename }))
  await Effect.runPromise(Effect.provide(test, layers))
})

it("finds a trace by its index, and looks for other fields in the order of the list", async () => {
  const filename = temporaryFile()
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    yield* ManyEvents.fill(storage, events)
    const list =
      /^SEARCH e USING (PRIMARY KEY|INDEX events_by_\w+) \(project_id=\?( AND \w+=\?){0,2}( AND event_id[<>]\?){0,2}\)$/
    const trace = /^SEARCH e USING INDEX events_by_trace \(project_id=\? AND trace_id=\?( AND event_id[<>]\?){0,2}\)$/
    for (const [fields, names] of ManyEvents.fields) {
      for (const page of ManyEvents.pagesOf(events, 20)) {
        const find = storage.findEvents(project, { ...names, ...page }, fields, events)
        const [, statements] = yield* Statements.capture(find)
        const walked: Array<string> = []
        for (const { parameters, text } of statements.filter(({ text }) => text.includes("is_wanted"))) {
          const plan = yield* sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${text}`, parameters)
          walked.push(...plan.flatMap(({ detail }) => (/^(SEARCH|SCAN) e USING /.test(detail) ? [detail] : [])))
        }
        const what = JSON.stringify({ fields, names, page })
        expect(
          walked.filter((way) => !list.test(way)),
          what
        ).toEqual([])
        if (fields.traceId !== undefined)
          expect(
            walked.slice(0, 1).filter((way) => !trace.test(way)),
            what
          ).toEqual([])
      }
    }
  })
  const layers = Layer.provideMerge(SqliteStorage.layer({ filename }), SqliteClient.layer({ filename }))
  await Effect.runPromise(Effect.provide(test, layers))
})

it("lists agents, versions, people and fingerprints by their primary keys", async () => {
  const filename = temporaryFile()
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    yield* ManyNames.fill(sql)
    const ways = new Set<string>()
    for (const { parameters, text } of (yield* Statements.capture(ManyNames.pages(storage)))[1]) {
      const plan = yield* sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${text}`, parameters)
      for (const { detail } of plan) if (!detail.includes(" projects ")) ways.add(detail)
    }
    const pages = ["=? AND agent_number>?", "=? AND agent_number>? AND agent_number<?"]
    const ofTable = (table: string, ...conditions: ReadonlyArray<string>) =>
      conditions.map((condition) => `SEARCH ${table} USING INDEX sqlite_autoindex_${table}_1 (project_id${condition})`)
    expect(ways).toEqual(
      new Set([
        ...ofTable("agents", ...pages),
        ...ofTable("people", ...pages.map((page) => page.replaceAll("agent", "person"))),
        ...ofTable("fingerprints", ...pages.map((page) => page.replaceAll("agent_number", "fingerprint_id"))),
        ...ofTable(
          "agent_versions",
          ...pages.map((page) => page.replaceAll("agent", "agent_version").replace("=?", "=? AND agent_number=?"))
        ),
        "SEARCH agents USING INDEX agents_by_name (project_id=? AND agent_name=?)"
      ])
    )
  })
  const layers = Layer.provideMerge(SqliteStorage.layer({ filename }), SqliteClient.layer({ filename }))
  await Effect.runPromise(Effect.provide(test, layers))
})

it("finds the largest sessions by their index, and only their figures", async () => {
  const filename = temporaryFile()
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    yield* ManySessions.fill(sql, 100)
    const [{ sessions }, statements] = yield* Statements.capture(storage.usage(project, 3))
    expect(sessions.map(({ session }) => session)).toEqual(["s100", "s99", "s98"])
    const ways: Array<string> = []
    for (const { parameters, text } of statements) {
      const plan = yield* sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${text}`, parameters)
      ways.push(...plan.flatMap(({ detail }) => (/^(SEARCH|SCAN) \w+ USING /.test(detail) ? [detail] : [])))
    }
    const ofSessions = ways.filter((way) => /^\w+ (sessions|storage_usage) /.test(way))
    expect(new Set(ofSessions)).toEqual(
      new Set([
        "SEARCH sessions USING COVERING INDEX sessions_by_size (project_id=?)",
        "SEARCH sessions USING INDEX sessions_by_size (project_id=? AND ranked_bytes>?)",
        "SEARCH storage_usage USING PRIMARY KEY (project_id=? AND session_number=?)",
        // The shared pieces of the project.
        "SEARCH storage_usage USING PRIMARY KEY (project_id=? AND session_number=? AND agent_number=?)"
      ])
    )
  })
  const layers = Layer.provideMerge(SqliteStorage.layer({ filename }), SqliteClient.layer({ filename }))
  await Effect.runPromise(Effect.provide(test, layers))
})

it("reads the packs of several sessions by their keys", async () => {
  const filename = temporaryFile()
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    yield* ManyEvents.fill(storage, events)
    const ranges = [1, 2, 3].map((session) => ({ session, from: 2, to: 5 }))
    const [, statements] = yield* Statements.capture(storage.readPackRanges(project, ranges, 1_000))
    const plans: Array<string> = []
    for (const { parameters, text } of statements.filter(({ text }) => /\bpacks\b/.test(text))) {
      const plan = yield* sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${text}`, parameters)
      plans.push(...plan.map(({ detail }) => detail).filter((detail) => /^(SEARCH|SCAN) [ks] /.test(detail)))
    }
    expect(plans).toEqual([
      expect.stringMatching(
        /^SEARCH k USING INDEX \w+ \(project_id=\? AND session_number=\? AND pack_number>\? AND pack_number<\?\)$/
      ),
      expect.stringMatching(/^SEARCH s USING PRIMARY KEY \(project_id=\? AND session_number=\?\)/)
    ])
  })
  const layers = Layer.provideMerge(SqliteStorage.layer({ filename }), SqliteClient.layer({ filename }))
  await Effect.runPromise(Effect.provide(test, layers))
})
