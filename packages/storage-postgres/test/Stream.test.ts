/**
 * The stream of events while two other processes record, and the database is restarted. Starts a PostgreSQL of its own.
 *
 *   STREAM_EVENTS=20000 TACHOGRAPH_TEST_SEED=7 npm test -- packages/storage-postgres/test/Stream
 */
import { createTachograph, type Tachograph } from "@tachograph/router"
import { StorageSuite, TestSeed } from "@tachograph/testkit"
import { Layer, Logger } from "effect"
import { setTimeout as wait } from "node:timers/promises"
import { afterAll, beforeAll, expect, it } from "vitest"
import { bundle } from "../../../scripts/vitest/Program.ts"
import { PostgresStorage } from "../src/index.ts"
import { type OwnPostgres, startPostgres } from "./StartPostgres.ts"

const program = await bundle("postgres-recordByKeys", new URL("fixtures/recordByKeys.ts", import.meta.url))
const events = Number(process.env["STREAM_EVENTS"] ?? 500)
const { seed } = TestSeed
const key = "a key for the stream"

let postgres: OwnPostgres
let servers: ReadonlyArray<Tachograph>

beforeAll(async () => {
  postgres = await startPostgres(["max_connections=40"])
  const open = () =>
    createTachograph({
      storage: PostgresStorage.layer({ url: postgres.url, maxConnections: 4, operationTimeout: 5_000 }).pipe(
        Layer.provideMerge(Logger.layer([]))
      ),
      apiKeys: [key]
    })
  servers = [await open(), await open()]
})

afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()))
  await postgres.remove()
})

interface Line {
  readonly event_id: string
  readonly cursor: string
}

/** Takes lines of a stream until `isEnough`, or for a while. Resolves with the cursor to go on with. */
const take = async (server: Tachograph, query: string, onLine: (line: Line) => void, isEnough: () => boolean) => {
  const gone = new AbortController()
  const timer = setTimeout(() => gone.abort(), 2_000)
  const headers = { authorization: `Bearer ${key}` }
  const request = new Request(`http://localhost/api/v1/events/stream?${query}`, { headers, signal: gone.signal })
  let cursor: string | undefined
  try {
    const response = await server.fetch(request)
    if (response.status !== 200) return undefined
    cursor = response.headers.get("tachograph-cursor")!
    const decoder = new TextDecoder()
    let rest = ""
    for await (const bytes of response.body!) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
      rest = lines.pop()!
      for (const text of lines) {
        if (text === "") continue
        const line = JSON.parse(text) as Line
        cursor = line.cursor
        onLine(line)
        if (isEnough()) return cursor
      }
    }
  } catch {
    // It was cut, by the timer or by the restart.
  } finally {
    clearTimeout(timer)
    gone.abort()
  }
  return cursor
}

/** Follows, with a new connection after every few events, until `isOver` and nothing came any more. */
const follow = async (filter: string, seed: number, ids: Array<string>, isOver: () => boolean) => {
  const random = StorageSuite.Calls.random(seed)
  let cursor: string | undefined
  for (let idle = 0; idle < 3;) {
    const before = ids.length
    const most = before + 1 + random(400)
    const query = `${filter}${cursor === undefined ? "" : `&cursor=${cursor}`}`
    const over = isOver()
    const next = await take(
      servers[random(servers.length)]!,
      query,
      ({ event_id }) => ids.push(event_id),
      () => ids.length >= most
    )
    cursor = next ?? cursor
    if (next === undefined) await wait(100)
    if (over && next !== undefined && ids.length === before) idle++
    else idle = 0
  }
}

it(
  `gives ${2 * events} events of two other processes once, over broken connections and a restart of the database, seed ${seed}`,
  { timeout: 120_000 + 40 * events },
  async () => {
    let isOver = false
    const all: Array<string> = []
    const rare: Array<string> = []
    const following = Promise.all([
      follow("", seed, all, () => isOver),
      follow("agent=rare", seed + 1, rare, () => isOver)
    ])
    await wait(500)
    const recording = Promise.all([1, 2].map((n) => program.run(postgres.url, String(n), String(events))))
    while (all.length < events / 2) await wait(20)
    await postgres.stop()
    await wait(300)
    await postgres.start()
    const recorded = Array.from((await recording).join("").matchAll(/^recorded (\S+)$/gm), ([, id]) => id!).sort()
    isOver = true
    await following
    expect(new Set(recorded).size).toBe(2 * events)
    expect(all.sort()).toEqual(recorded)
    const { events: listed } = await servers[0]!.api.listEvents({ agent: "rare", limit: 1000 })
    expect(rare.length).toBe((2 * events) / 10)
    expect(listed.every(({ event_id }) => rare.includes(event_id))).toBe(true)
    expect(new Set(rare).size).toBe(rare.length)
  }
)
