/** Which indexes sessions and usage use: SQLite does not say how many rows it has read. */
import {
  AgentName,
  EventTime,
  PersonId,
  ProjectId,
  SessionId,
  type SessionPlace,
  SessionRank,
  Storage
} from "@tachograph/core"
import { Samples, StorageSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { SqlClient, Statement } from "effect/sql"
import { expect, it } from "vitest"
import { SqliteClient, SqliteStorage } from "../src/index.ts"
import { temporaryFile } from "./TemporaryFile.ts"

const { ManyEvents, Statements } = StorageSuite
const project = ProjectId.make("default")
const events = 1_000

/** A range of a key, or one row. */
const allowed = [
  // The rows of a range of time, all or of people; of sessions; the position; people; the sessions by their last events.
  /^SEARCH (rollups|r) USING PRIMARY KEY \(project_id=\? AND series=\?( AND session_number=\? AND person_number=\? AND slot>\? AND slot<\?)?\)$/,
  /^SEARCH (rollups|r) USING PRIMARY KEY \(project_id=\? AND series=\? AND session_number([=>]\?|>\? AND session_number<\?)\)$/,
  /^SEARCH rollups USING PRIMARY KEY \(project_id=\? AND series=\? AND session_number=\? AND person_number>\?\)$/,
  /^SEARCH (rollups|r) USING (COVERING )?INDEX rollups_by_last_(event|call) \(project_id=\?( AND last_(event|call)[<>]\?){0,2}\)$/,
  /^SEARCH r USING PRIMARY KEY \(project_id=\?( AND \w+=\?){9}\)$/,
  // Events that the rows do not have yet, those of a session, and those that were recorded long before or after their calls.
  /^SEARCH (events|e) USING (COVERING INDEX events_by_\w+|PRIMARY KEY) \(project_id=\?( AND event_id[<>]\?){0,2}\)$/,
  /^SEARCH e USING (COVERING )?INDEX events_by_distant_(id \(project_id=\? AND event_id>\?\)|time \(project_id=\? AND distant_at>\? AND distant_at<\?\))$/,
  /^SEARCH (events|e) USING INDEX events_by_person \(project_id=\? AND person_number=\?\)$/,
  /^SEARCH (events|e) USING (COVERING )?INDEX events_by_session \(project_id=\? AND session_number=\?( AND agent_number=\?)?( AND event_id[<>]\?){0,2}\)$/,
  /^SEARCH e USING COVERING INDEX events_by_distant_session_time \(project_id=\? AND session_number=\? AND distant_at>\?\)$/
]

/** The steps of a plan that read rollups or events. A page of events that is joined is read from a query `e` of its own. */
const waysOf = (plan: ReadonlyArray<{ readonly detail: string }>): ReadonlyArray<string> => {
  const details = plan.map(({ detail }) => detail)
  const isOfPage = details.includes("CO-ROUTINE e")
  return details.filter(
    (detail) => /^(SEARCH|SCAN) (rollups|events|r|o|e)\b/.test(detail) && !(isOfPage && detail === "SCAN e")
  )
}

it("reads sessions and usage by ranges of keys", async () => {
  const filename = temporaryFile()
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    yield* ManyEvents.fill(storage, events)
    const upTo = yield* storage.watermark(project)
    while ((yield* storage.deriveEvents(project, upTo, 200)) === 200);
    const page = yield* storage.listSessions(project, { order: "desc", limit: 5 })
    const names = { agent: AgentName.make("busy"), person: PersonId.make("bob") }
    const time = { fromMs: Date.UTC(2020, 0), toMs: Date.UTC(2030, 0, 1, 0, 7) }
    const usage = { timeZone: "UTC", limit: 10 }
    const reads: Readonly<Record<string, Effect.Effect<unknown, unknown>>> = {
      sessions: storage.listSessions(project, { order: "desc", limit: 5 }),
      "sessions, the next page": storage.listSessions(project, { order: "desc", limit: 5, after: page.next }),
      "sessions of names": storage.listSessions(project, { order: "asc", limit: 5, ...names, isError: false }),
      "a session": storage.sessionSummary(project, SessionId.make("long")),
      "sessions by cost": storage.rankSessions(project, { sort: "cost", order: "desc", limit: 5 }),
      "the slowest calls": storage.rankEvents(project, { sort: "duration", order: "desc", fields: {}, limit: 5 }),
      "people by calls": storage.sumUsage(project, { ...usage, groupBy: ["person"], sort: "calls" }),
      usage: storage.sumUsage(project, { ...usage, groupBy: [] }),
      "usage by day": storage.sumUsage(project, { ...usage, ...time, groupBy: ["day"] }),
      "usage by hour": storage.sumUsage(project, { ...usage, groupBy: ["hour"], timeZone: "Asia/Kolkata" }),
      "usage by local day": storage.sumUsage(project, {
        ...usage,
        ...time,
        groupBy: ["day"],
        timeZone: "Asia/Kolkata"
      }),
      "usage by person": storage.sumUsage(project, { ...usage, groupBy: ["person", "model"] }),
      "usage of a person": storage.sumUsage(project, { ...usage, ...names, groupBy: ["person", "model"] }),
      "usage by session": storage.sumUsage(project, { ...usage, ...time, groupBy: ["session"] })
    }
    for (const [name, read] of Object.entries(reads)) {
      const [, statements] = yield* Statements.capture(read)
      const looked = statements.filter(({ text }) => /\b(rollups|events)\b/.test(text))
      expect(looked.length, name).toBeGreaterThan(0)
      for (const { parameters, text } of looked) {
        const plan = yield* sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${text}`, parameters)
        const ways = waysOf(plan)
        expect(
          ways.filter((detail) => !allowed.some((way) => way.test(detail))),
          `${name}: ${text}`
        ).toEqual([])
        expect(ways.length, `${name}: ${text}`).toBeGreaterThan(0)
      }
    }
  })
  const layers = Layer.provideMerge(SqliteStorage.layer({ filename }), SqliteClient.layer({ filename }))
  await Effect.runPromise(Effect.provide(test, layers))
})

it("derives by single rows", async () => {
  const filename = temporaryFile()
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    yield* ManyEvents.fill(storage, events)
    const upTo = yield* storage.watermark(project)
    const [, statements] = yield* Statements.capture(storage.deriveEvents(project, upTo, 200))
    const reads = statements.filter(({ text }) => /^(WITH|SELECT)/.test(text) && /\b(rollups|events)\b/.test(text))
    expect(reads.length).toBeGreaterThan(2)
    for (const { parameters, text } of reads) {
      const plan = yield* sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${text}`, parameters)
      expect(
        waysOf(plan).filter((detail) => !allowed.some((way) => way.test(detail))),
        text
      ).toEqual([])
    }
  })
  const layers = Layer.provideMerge(SqliteStorage.layer({ filename }), SqliteClient.layer({ filename }))
  await Effect.runPromise(Effect.provide(test, layers))
})

it("lists sessions by few statements, however many are not derived or went on since", async () => {
  const sessions = 2_500
  const beginMs = Date.UTC(2026, 9, 21)
  const eventOf = (n: number) =>
    Samples.appendEvent(EventTime.firstIdOf(beginMs + n), { session: SessionId.make(`s${n % sessions}`) })
  const filename = temporaryFile()
  const test = Effect.gen(function* () {
    const storage = yield* Storage
    for (let n = 0; n < 2 * sessions; n += 500) {
      yield* Samples.append(
        storage,
        Array.from({ length: 500 }, (_, m) => eventOf(n + m))
      )
    }
    const asOf = eventOf(sessions + 10).summary.id
    const pages: ReadonlyArray<SessionPlace | undefined> = [
      undefined,
      { asOf, last: undefined, recent: [] },
      { asOf, last: SessionRank.of(beginMs + 1_000, 1), recent: [] }
    ]
    for (const isDerived of [false, true]) {
      if (isDerived) while ((yield* storage.deriveEvents(project, eventOf(2 * sessions).summary.id, 1_000)) > 0);
      for (const order of ["asc", "desc"] as const) {
        for (const after of pages) {
          const [page, statements] = yield* Statements.capture(
            storage.listSessions(project, { order, limit: 5, after })
          )
          expect(page.rows.length).toBe(5)
          expect(statements.length, `${order}, ${after?.last}, ${isDerived}`).toBeLessThanOrEqual(40)
        }
      }
    }
  })
  const layers = Layer.provideMerge(SqliteStorage.layer({ filename }), SqliteClient.layer({ filename }))
  await Effect.runPromise(Effect.provide(test, layers))
})

it("adds usage up by steps of events, and reads those that are not derived once", async () => {
  const count = 6_000
  const beginMs = Date.UTC(2026, 9, 21)
  const eventOf = (n: number) =>
    Samples.appendEvent(EventTime.firstIdOf(beginMs + n), {
      session: SessionId.make(n % 6 === 0 ? "short" : "long"),
      person: PersonId.make(`p${n % 240}`)
    })
  const filename = temporaryFile()
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    for (let n = 0; n < count; n += 500) {
      yield* Samples.append(
        storage,
        Array.from({ length: 500 }, (_, m) => eventOf(n + m))
      )
    }
    yield* storage.deriveEvents(project, eventOf(count).summary.id, 3_000)
    const usage = { timeZone: "UTC", limit: 1_000 }
    const [sessions, ofSessions] = yield* Statements.capture(
      storage.sumUsage(project, { ...usage, groupBy: ["session"] })
    )
    expect(new Map(sessions.groups.map(({ events, session }) => [session, events]))).toEqual(
      new Map([
        ["short", count / 6],
        ["long", (5 * count) / 6]
      ])
    )
    for (const { parameters, text } of ofSessions) {
      if (!/FROM events/.test(text)) continue
      expect((yield* sql.unsafe(text, parameters)).length, text).toBeLessThanOrEqual(2_000)
    }
    const [people, ofPeople] = yield* Statements.capture(
      storage.sumUsage(project, { ...usage, groupBy: ["person", "agent"] })
    )
    expect(people.groups.map(({ events }) => events)).toEqual(Array.from({ length: 240 }, () => count / 240))
    const isOfNear = (text: string) => !text.includes("INDEXED BY events_by_distant_id")
    // In two steps each for what the sessions add up to, and for the calls.
    expect(ofPeople.filter(({ text }) => /cost.*FROM events/s.test(text) && isOfNear(text)).length).toBe(4)
  })
  const layers = Layer.provideMerge(SqliteStorage.layer({ filename }), SqliteClient.layer({ filename }))
  await Effect.runPromise(Effect.provide(test, layers))
})

it("looks at all sessions by digests of 256, which erasures take away and the next events bring back", async () => {
  const sessions = 1_100
  const beginMs = Date.UTC(2026, 9, 21)
  const idOf = (n: number) => EventTime.firstIdOf(beginMs + n)
  const filename = temporaryFile()
  const test = Effect.gen(function* () {
    const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
    for (let n = 0; n < sessions; n += 100) {
      yield* Samples.append(
        storage,
        Array.from({ length: 100 }, (_, m) =>
          Samples.appendEvent(idOf(n + m), { session: SessionId.make(`s${n + m}`), costUsd: n + m })
        )
      )
    }
    const deriveTo = Effect.fnUntraced(function* (session: number) {
      while ((yield* storage.deriveEvents(project, idOf(session), 500)) > 0);
    })
    const digests = Effect.map(
      sql<{ number: number }>`SELECT session_number AS number FROM rollups WHERE series = 14 ORDER BY session_number`,
      (rows) => rows.map(({ number }) => number)
    )
    yield* deriveTo(999)
    // Too few for digests.
    yield* deriveTo(sessions)
    expect(yield* digests).toEqual([0, 1, 2, 3])
    const [page, statements] = yield* Statements.capture(
      storage.rankSessions(project, { sort: "cost", order: "desc", limit: 3 })
    )
    expect(page.rows.map(({ session }) => session)).toEqual(["s1099", "s1098", "s1097"])
    expect(statements.length).toBeLessThanOrEqual(30)
    const dearest = storage.rankSessions(project, { sort: "cost", order: "asc", limit: 300 })
    const right = yield* dearest
    for (const series of [14, 15, 1]) {
      // A digest, up to where they are, and the row of a session that no digest has.
      const isRow = sql`series = ${series} AND session_number = (SELECT max(session_number) FROM rollups WHERE series = ${series})`
      const [row] = yield* sql<{ sums: Uint8Array }>`SELECT sums FROM rollups WHERE ${isRow}`
      yield* sql`UPDATE rollups SET sums = ${Uint8Array.of(1, ...row!.sums.subarray(1))} WHERE ${isRow}`
      expect(yield* dearest, `series ${series}`).toEqual(right)
      yield* sql`UPDATE rollups SET sums = ${row!.sums} WHERE ${isRow}`
    }
    yield* storage.eraseEvents(project, { session: SessionId.make("s300") }, 100)
    expect(yield* digests).toEqual([0, 2, 3])
    yield* deriveTo(sessions)
    expect(yield* digests).toEqual([0, 1, 2, 3])
  })
  const layers = Layer.provideMerge(SqliteStorage.layer({ filename }), SqliteClient.layer({ filename }))
  await Effect.runPromise(Effect.provide(test, layers))
})

it("looks for the end of a session that an erasure has moved, and not for the other one", async () => {
  const beginMs = Date.UTC(2026, 9, 21)
  const idOf = (n: number) => EventTime.firstIdOf(beginMs + n)
  const filename = temporaryFile()
  const test = Effect.gen(function* () {
    const storage = yield* Storage
    yield* Samples.append(
      storage,
      Array.from({ length: 20 }, (_, n) => Samples.appendEvent(idOf(n)))
    )
    yield* storage.deriveEvents(project, idOf(100), 100)
    const [erased, statements] = yield* Statements.capture(storage.eraseEvents(project, { before: idOf(5) }, 100))
    expect(erased.events).toBe(5)
    const searches = statements.filter(({ text }) => /events_by_session.*ORDER BY event_id/s.test(text))
    expect(searches.map(({ text }) => /ORDER BY event_id (\w+)/.exec(text)?.[1])).toEqual(["ASC"])
    const { rows } = yield* storage.listSessions(project, { order: "desc", limit: 1 })
    expect(rows).toMatchObject([{ events: 15, firstEvent: idOf(5) }])
  })
  const layers = Layer.provideMerge(SqliteStorage.layer({ filename }), SqliteClient.layer({ filename }))
  await Effect.runPromise(Effect.provide(test, layers))
})

it("reads events that are not derived once for a page, although some are derived meanwhile, and again after erasures", async () => {
  const filename = temporaryFile()
  const read = (storage: Storage["Service"]) => storage.listSessions(project, { order: "desc", limit: 3 })

  /** A page while another connection changes the rows before the page reads them, and how often it reads events. */
  const readWhile = (storage: Storage["Service"], change: Effect.Effect<unknown, unknown>) =>
    Effect.gen(function* () {
      let changes = 0
      let eventReads = 0
      let isAttempted = false
      const page = yield* Effect.provideService(read(storage), Statement.CurrentTransformer, (statement) => {
        const [text] = statement.compile()
        if (/FROM events e\b/.test(text)) eventReads++
        if (text.startsWith("SELECT last_event")) isAttempted = true
        if (!isAttempted || !/FROM asked/.test(text) || changes === 2) return Effect.succeed(statement)
        isAttempted = false
        changes++
        return Effect.orDie(
          Effect.as(Effect.provideService(change, Statement.CurrentTransformer, Effect.succeed), statement)
        )
      })
      expect(changes).toBe(2)
      return { page, eventReads }
    })

  const test = Effect.gen(function* () {
    const storage = yield* Storage
    const other = yield* Effect.provide(Storage, yield* Layer.build(Layer.fresh(SqliteStorage.layer({ filename }))))
    yield* ManyEvents.fill(storage, events)
    const upTo = yield* storage.watermark(project)
    yield* storage.deriveEvents(project, upTo, 300)
    const expected = yield* read(storage)

    const derived = yield* readWhile(storage, other.deriveEvents(project, upTo, 100))
    expect(derived.page).toEqual(expected)
    expect(derived.eventReads).toBe(1)

    // Fifty of those that are derived each time.
    const erased = yield* readWhile(storage, other.eraseEvents(project, { before: Samples.eventId(100) }, 50))
    expect(erased.page).toEqual(yield* read(storage))
    expect(erased.eventReads).toBe(3)
  })
  await Effect.runPromise(Effect.scoped(Effect.provide(test, SqliteStorage.layer({ filename }))))
})
