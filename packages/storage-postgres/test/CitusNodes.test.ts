/**
 * How many nodes of a cluster each operation asks, by the plans of its statements. Prints the table of `docs/scale.md`:
 *
 *   TACHOGRAPH_TEST_CITUS_URL=... npm test -- packages/storage-postgres/test/CitusNodes
 */
import {
  AgentName,
  AgentVersionName,
  Bucket,
  defaultProject,
  EventId,
  Fingerprint,
  JsonText,
  PersonId,
  Recorder,
  SessionId,
  Storage
} from "@tachograph/core"
import { Samples, StorageSuite } from "@tachograph/testkit"
import { Context, DateTime, Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { type Asked, askedBy, spiedOn } from "./CitusPlans.ts"
import { citusUrl, distributedSchema, skip, withOptions } from "./CitusSchema.ts"

const { Calls } = StorageSuite
const { appendEvent, appendOnce } = Samples

/** Events of each session, sessions, and events of a page. */
const [sessions, perSession, limit] = [40, 5, 10]

/** An id as the recorder makes it. */
const idOf = (session: string, n: number) =>
  EventId.make(`${Samples.eventId(n * 100, 1).slice(0, -2)}${Bucket.ofSession(session).toString(16).padStart(2, "0")}`)

/** One that an export can read. */
const fields = JsonText.unsafe(
  JSON.stringify(
    Object.fromEntries(
      Object.keys(Fingerprint.fields).map((field) => [field, /^(language|system)/.test(field) ? "x" : null])
    )
  )
)

/** Above all ids. */
const lastId = EventId.make("ffffffff-ffff-7fff-bfff-ffffffffffff")

const printed = (asked: Readonly<Record<string, Asked>>): string =>
  [
    "| operation | statements | nodes | shards | rows |",
    "| --- | --- | --- | --- | --- |",
    ...Object.entries(asked).map(
      ([operation, { nodes, rows, shards, statements }]) =>
        `| ${operation} | ${statements} | ${nodes} | ${shards} | ${rows} |`
    )
  ].join("\n")

if (citusUrl === undefined) skip("Nodes of each operation")
else {
  const emptySchema = distributedSchema(citusUrl)

  it("asks one node for what belongs to a session, and a page of each shard for what does not", async () => {
    const config = await emptySchema()
    const explaining = { ...config, url: withOptions(config.url, "-c citus.explain_all_tasks=1") }
    const test = Effect.gen(function* () {
      const sent: Array<StorageSuite.Statements.Sent> = []
      const [sql, storage] = [yield* SqlClient.SqlClient, spiedOn(yield* Storage, sent)]
      const recorder = Context.get(yield* Layer.build(Calls.recorderOver(storage)), Recorder)
      const asking = Effect.fnUntraced(function* <A, E>(operation: Effect.Effect<A, E>) {
        sent.length = 0
        yield* operation
        return yield* askedBy(sql, Array.from(sent))
      })
      const all = (yield* sql`SELECT 1 FROM pg_dist_node WHERE shouldhaveshards`).length

      yield* storage.putFingerprint(defaultProject, {
        id: Calls.fingerprintId,
        fields,
        createdAt: yield* DateTime.now
      })
      const generated = Array.from({ length: sessions }, (_, n) =>
        Calls.calls(`s${n}`, [`p${n % 3}`, `p${(n + 1) % 3}`], n)
      )
      const ids: Array<EventId> = []
      for (let n = 0; n < sessions * perSession; n++) {
        ids.push(yield* Calls.record(recorder, generated[n % sessions]!.next().value))
      }
      const session = SessionId.make("s7")
      // Without shared pieces, and of a session that no list is asked for.
      const plain = { session: SessionId.make("plain"), person: PersonId.make("p1") }
      const own = appendEvent(idOf(plain.session, 1), plain)
      yield* appendOnce(storage, [own])
      const [agent, agentVersion, person] = [
        AgentName.make("agent 2"),
        AgentVersionName.make("default"),
        PersonId.make("p1")
      ]
      const { number } = (yield* storage.getSession(defaultProject, session))!
      const spread = yield* sql<{ rows: string }>`SELECT sum((result)::int) AS rows FROM
        run_command_on_shards('events', 'SELECT count(*) FROM %s') JOIN pg_dist_placement USING (shardid) GROUP BY groupid`

      const query = { order: "desc", limit } as const
      const usage = { groupBy: ["day", "model"], timeZone: "UTC", limit } as const
      const record = (session: string) =>
        asking(Calls.record(recorder, { session, person, inputs: `{"prompt":"without shared pieces"}`, output: "{}" }))
      const asked = {
        "record events of a session, agent and person that exist": yield* record(session),
        "record the first event of a session": yield* record("new"),
        "read an event without shared pieces": yield* asking(storage.getEvent(defaultProject, own.summary.id)),
        "read an event": yield* asking(recorder.getEvent(ids[7]!)),
        "read packs of a session": yield* asking(storage.readPacks(defaultProject, number, [{ from: 1, to: 3 }])),
        "list events of a session": yield* asking(recorder.listEvents({ ...query, session })),
        "list messages of a session": yield* asking(recorder.listMessages(session, query)),
        "list calls of a session": yield* asking(recorder.listCalls(session, query)),
        "list events": yield* asking(recorder.listEvents(query)),
        "list events of a person": yield* asking(recorder.listEvents({ ...query, person })),
        "list events of an agent": yield* asking(recorder.listEvents({ ...query, agent })),
        "list events with a model": yield* asking(recorder.listEvents({ ...query, fields: { model: "m" } })),
        "look for new events, for streams": yield* asking(
          storage.listEvents(defaultProject, { order: "asc", after: ids.at(-2 * limit)!, limit })
        ),
        search: yield* asking(recorder.search({ text: "question", isCaseSensitive: false, after: undefined, limit })),
        "list configurations": yield* asking(recorder.listConfigurations({ agent, agentVersion, limit })),
        export: yield* asking(Effect.flatMap(recorder.exportEvents({ after: undefined, limit }), Stream.runDrain)),
        "read storage": yield* asking(recorder.storageUsage(limit)),
        "list sessions, before deriving": yield* asking(recorder.listSessions(query)),
        "read usage, before deriving": yield* asking(recorder.sumUsage(usage)),
        derive: yield* asking(storage.deriveEvents(defaultProject, lastId, 1_000)),
        "list sessions": yield* asking(recorder.listSessions(query)),
        "list sessions of a person": yield* asking(recorder.listSessions({ ...query, person })),
        "verify the sums of sessions": yield* asking(
          storage.checkDerived(defaultProject, { kind: "session", at: 0, rows: 0, version: undefined })
        ),
        "read a session": yield* asking(recorder.getSession(session)),
        "read usage": yield* asking(recorder.sumUsage(usage)),
        "read usage by session": yield* asking(recorder.sumUsage({ ...usage, groupBy: ["session"] })),
        "erase a session": yield* asking(recorder.eraseSession(session)),
        "erase a person": yield* asking(recorder.erasePerson(person)),
        "record the first event of a session, with shared pieces": yield* asking(
          Calls.record(recorder, Calls.calls("new, with shared pieces", ["p0", "p2"], sessions).next().value)
        )
      } satisfies Readonly<Record<string, Asked>>
      console.log(`${all} nodes, with ${spread.map(({ rows }) => rows).join(", ")} events\n\n${printed(asked)}`)

      expect(spread).toHaveLength(all)
      const ofOne = { statements: 1, nodes: 1, shards: 1 }
      expect(asked).toMatchObject({
        "record events of a session, agent and person that exist": { nodes: 1, shards: 1 },
        "read an event without shared pieces": ofOne,
        "read packs of a session": ofOne,
        "list events of a session": { nodes: 1, shards: 1 },
        "list calls of a session": { nodes: 1, shards: 1 },
        // Without those of its shared pieces, which it locks.
        "record the first event of a session, with shared pieces": { rows: 4 },
        // And the nodes of shared pieces, one at a time.
        "read an event": { shards: 1 },
        "list messages of a session": { shards: 1 },
        // And the node of the project's sums.
        "read a session": { shards: 1 },
        "read usage": { nodes: all }
      })
      // No statement asks all nodes twice, as it would for rows of another table that belong to those of a page.
      const { shards } = asked["list events"]
      expect(asked["list sessions"]).toMatchObject({ shards })
      expect(asked["list sessions of a person"]).toMatchObject({ shards })
      expect(asked["verify the sums of sessions"]).toMatchObject({ shards })
      expect(asked["read usage by session"]).toMatchObject({ shards })
      const ofAll = ["list events", "list events of a person", "list events of an agent"] as const
      for (const name of [...ofAll, "look for new events, for streams"] as const) {
        const { nodes, rows, shards, statements } = asked[name]
        expect({ name, nodes, statements }).toEqual({ name, nodes: all, statements: 1 })
        // One more event than a page has shows whether there are others.
        expect(rows).toBeLessThanOrEqual(shards * (limit + 1))
      }
    })
    const layers = Layer.merge(PostgresStorage.layer(config), PostgresStorage.client(explaining))
    await Effect.runPromise(Effect.scoped(Effect.provide(test, layers)))
  })
}
