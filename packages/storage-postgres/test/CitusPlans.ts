/** What the statements of an operation ask of the nodes of a cluster, by the coordinator's plans. */
import type { Storage } from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

const { Statements } = StorageSuite

export interface Asked {
  /** Statements that ask for parts of tables. */
  readonly statements: number
  /** Different nodes that have these. */
  readonly nodes: number
  /** Most shards that one statement asks. */
  readonly shards: number
  /** Rows that the shards return; those of statements that write or lock are not counted. */
  readonly rows: number
}

/** Statements that can be run again: they neither write nor lock. */
const isRead = (text: string): boolean =>
  /^\s*(SELECT|WITH)\b/.test(text) &&
  !/\b(INSERT|UPDATE|DELETE|FOR (NO KEY |KEY )?(SHARE|UPDATE))\b|advisory/.test(text)

/** Tables of which each node has a part. What every node has is read from any of them. */
const isOfPart =
  / on (sessions|session_counters|events|packs|shared_pieces|shared_piece_owners|storage_usage|agent_usage|rollups|idempotency_keys|steps)_\d/

/** The tasks of a plan that read or write parts of tables: the ports of their nodes, and the rows of their first steps. */
const tasksIn = (plan: string) =>
  plan
    .split("->  Task\n")
    .slice(1)
    .filter((task) => isOfPart.test(task))
    .map((task) => ({
      node: / Node: host=\S+ port=(\d+)/.exec(task)![1]!,
      rows: Number(/\(actual rows=(\d+)/.exec(task)?.[1] ?? 0)
    }))

/** A storage that also adds its statements to a list, whichever fiber sends them. */
export const spiedOn = (storage: Storage["Service"], sent: Array<StorageSuite.Statements.Sent>): Storage["Service"] => {
  const noting = <A, E>(operation: Effect.Effect<A, E>) =>
    Effect.map(Statements.capture(operation), ([value, statements]) => {
      sent.push(...statements)
      return value
    })
  const spied = (value: unknown): unknown => {
    if (Effect.isEffect(value)) return noting(value as Effect.Effect<unknown, unknown>)
    if (typeof value !== "function") return value
    return (...args: ReadonlyArray<unknown>) => spied(value(...args))
  }
  return Object.fromEntries(Object.entries(storage).map(([name, value]) => [name, spied(value)])) as never
}

/** `sql` is a client with `citus.explain_all_tasks`. What reads is run a second time. */
export const askedBy = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  sent: ReadonlyArray<StorageSuite.Statements.Sent>
) {
  const plans: Array<ReturnType<typeof tasksIn>> = []
  for (const { parameters, text } of sent) {
    const how = isRead(text) ? "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF)" : "EXPLAIN"
    const plan = yield* sql.unsafe<{ "QUERY PLAN": string }>(`${how} ${text}`, parameters)
    plans.push(tasksIn(plan.map((row) => row["QUERY PLAN"]).join("\n")))
  }
  const tasks = plans.flat()
  return {
    statements: plans.filter(({ length }) => length > 0).length,
    nodes: new Set(tasks.map(({ node }) => node)).size,
    shards: Math.max(0, ...plans.map(({ length }) => length)),
    rows: tasks.reduce((sum, { rows }) => sum + rows, 0)
  } satisfies Asked
})
