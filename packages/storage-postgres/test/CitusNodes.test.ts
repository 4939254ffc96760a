/** How many nodes of a cluster each operation asks, by the plans of its statements. */
import { Bucket, EventId, PersonId, SessionId, Storage } from "@tachograph/core"
import { Samples, StorageSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { citusUrl, distributedSchema, skip, withOptions } from "./CitusSchema.ts"

const { Statements } = StorageSuite
const { appendEvent, appendOnce, project } = Samples

const lines = (rows: ReadonlyArray<{ readonly "QUERY PLAN": string }>) => rows.map((row) => row["QUERY PLAN"])

/** An id as the recorder makes it. */
const idOf = (session: string, n: number) =>
  EventId.make(`${Samples.eventId(n * 1000, 1).slice(0, -2)}${Bucket.ofSession(session).toString(16).padStart(2, "0")}`)

/** The nodes that its statements ask, besides the coordinator. */
const nodesOf = Effect.fnUntraced(function* <A, E>(
  sql: SqlClient.SqlClient,
  coordinator: string,
  operation: Effect.Effect<A, E>
) {
  const [, statements] = yield* Statements.capture(operation)
  const nodes = new Set<string>()
  for (const { parameters, text } of statements) {
    const plan = lines(yield* sql.unsafe<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`, parameters))
    for (const line of plan) {
      const node = / Node: host=\S+ port=(\d+)/.exec(line)?.[1]
      if (node !== undefined && node !== coordinator) nodes.add(node)
    }
  }
  return nodes.size
})

if (citusUrl === undefined) skip("Nodes of each operation")
else {
  const emptySchema = distributedSchema(citusUrl)

  it("asks one node for what belongs to a session, and all for what does not", async () => {
    const config = await emptySchema()
    const explaining = { ...config, url: withOptions(config.url, "-c citus.explain_all_tasks=1") }
    const test = Effect.gen(function* () {
      const [storage, sql] = [yield* Storage, yield* SqlClient.SqlClient]
      const workers = yield* sql`SELECT 1 FROM pg_dist_node WHERE shouldhaveshards`
      const coordinator = new URL(citusUrl!).port
      const all = workers.length
      const event = (n: number) =>
        appendEvent(idOf(`s${n % 40}`, n), {
          session: SessionId.make(`s${n % 40}`),
          person: PersonId.make(`p${n % 3}`)
        })
      for (let n = 0; n < 80; n++) yield* appendOnce(storage, [event(n)])

      const rows = yield* sql<{ nodes: number | string }>`SELECT count(DISTINCT nodeport) AS nodes FROM citus_shards
        WHERE table_name = to_regclass('events')`
      expect(Number(rows[0]!.nodes)).toBe(all)

      const session = SessionId.make("s7")
      const { number } = (yield* storage.getSession(project, session))!
      const list = { order: "asc", limit: 10 } as const
      const asked = {
        append: yield* nodesOf(sql, coordinator, appendOnce(storage, [event(87)])),
        getEvent: yield* nodesOf(sql, coordinator, storage.getEvent(project, event(7).summary.id)),
        readPacks: yield* nodesOf(sql, coordinator, storage.readPacks(project, number, [{ from: 1, to: 3 }])),
        readPackRanges: yield* nodesOf(
          sql,
          coordinator,
          storage.readPackRanges(project, [{ session: number, from: 1, to: 3 }], 1000)
        ),
        listSession: yield* nodesOf(sql, coordinator, storage.listEvents(project, { ...list, session })),
        listPerson: yield* nodesOf(
          sql,
          coordinator,
          storage.listEvents(project, { ...list, person: PersonId.make("p1") })
        ),
        listAll: yield* nodesOf(sql, coordinator, storage.listEvents(project, list)),
        usage: yield* nodesOf(sql, coordinator, storage.usage(project, 0))
      }
      expect(asked).toEqual({
        append: 1,
        getEvent: 1,
        readPacks: 1,
        readPackRanges: 1,
        listSession: 1,
        listPerson: all,
        listAll: all,
        usage: all
      })
    })
    await Effect.runPromise(
      Effect.provide(test, Layer.merge(PostgresStorage.layer(config), PostgresStorage.client(explaining)))
    )
  })
}
