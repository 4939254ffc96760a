/** OpenTelemetry over two server processes of one Postgres, one of which is killed: the same events as of whole posts to one. */
import { OtlpPrograms, TestSeed } from "@tachograph/testkit"
import { PostgresStorage } from "@tachograph/storage-postgres"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { randomBytes } from "node:crypto"
import { expect, inject, it } from "vitest"
import { type Running, serve } from "../TachographProcess.ts"

const apiKey = "a key for several servers"
const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" }

/** Posts that are sent at a time. */
const atOnce = 8

const newStorage = () => {
  const url = new URL(inject("postgresUrl"))
  const schema = `test_${randomBytes(8).toString("hex")}`
  url.searchParams.set("schema", schema)
  const client = PostgresStorage.client({ url: inject("postgresUrl"), schema })
  const sql = <A extends object>(text: string) =>
    Effect.runPromise(
      Effect.flatMap(SqlClient.SqlClient, (client) => client.unsafe<A>(text)).pipe(Effect.provide(client))
    )
  const start = (wait: string) =>
    serve(["--port", "0", "--otlp-wait", wait], {
      env: { TACHOGRAPH_API_KEY: apiKey, TACHOGRAPH_STORAGE: url.href }
    })
  return { sql, start }
}

type Post = OtlpPrograms.Post

/** As exporters do, it tries again where a server does not answer. */
const send = async (servers: ReadonlyArray<Running>, { body, signal }: Post, at: number): Promise<void> => {
  const init = { method: "POST", headers, body: JSON.stringify(body) }
  try {
    const answer = await fetch(`${servers[at % servers.length]!.url}/otlp/v1/${signal}`, init)
    if (answer.status === 200) return
    expect(answer.status).toBe(503)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  return send(servers, { body, signal }, at + 1)
}

const sendAll = async (servers: ReadonlyArray<Running>, posts: ReadonlyArray<Post>): Promise<void> => {
  const rest = Array.from(posts.entries())
  const sendNext = async (): Promise<void> => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) await send(servers, next[1], next[0])
  }
  await Promise.all(Array.from({ length: atOnce }, sendNext))
}

/** What is made of the posts that `post` sends to two servers, when nothing waits any more. */
const eventsOf = async (post: (servers: Array<Running>, start: () => Promise<Running>) => Promise<void>) => {
  const { sql, start } = newStorage()
  // None waits for so long: what is not complete is finished below.
  const startLong = () => start("1h")
  const servers = [await startLong(), await startLong()]
  await post(servers, startLong)
  for (const server of servers) expect((await server.stop()).code).toBe(0)
  await sql("UPDATE waiting_parts SET due_at = 0 WHERE due_at IS NOT NULL")
  await sql("DELETE FROM leases")
  const last = await start("1s")
  const waiting = async () => (await sql<{ n: number }>("SELECT count(*)::integer AS n FROM waiting_parts"))[0]!.n
  await expect.poll(waiting, { interval: 100, timeout: 60_000 }).toBe(0)
  const events = await OtlpPrograms.eventsIn(async (path) => (await fetch(last.url + path, { headers })).text())
  expect((await last.stop()).stderr).toBe("")
  return events
}

it(
  `makes the same events of spans in any order, of which each comes twice, seed ${TestSeed.seed}`,
  { timeout: 280_000 },
  async () => {
    const posts = OtlpPrograms.posts()
    const expected = await eventsOf(async (servers) => {
      for (const [at, post] of posts.entries()) await send(servers, post, at)
    })
    expect(expected.length).toBeGreaterThan(3)
    const single = posts.flatMap(OtlpPrograms.split)
    const shuffled = fc.sample(fc.shuffledSubarray(single, { minLength: single.length }), {
      seed: TestSeed.seed,
      numRuns: 2
    })
    const events = await eventsOf(async (servers, start) => {
      const [first = [], second = []] = shuffled
      const half = first.length >> 1
      await sendAll(servers, first.slice(0, half))
      const sending = sendAll(servers, first.slice(half))
      await servers[1]!.stop("SIGKILL")
      servers[1] = await start()
      await sending
      await sendAll(servers, second)
    })
    expect(events).toEqual(expected)
  }
)
