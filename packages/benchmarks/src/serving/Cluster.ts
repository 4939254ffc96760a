/** The processor time that recording takes on each node of a Citus cluster, beside one Postgres. */
import * as Effect from "effect/Effect"
import type { SqlClient } from "effect/sql"
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import * as Databases from "../harness/Databases.ts"
import * as Load from "../harness/Load.ts"
import * as Processes from "../harness/Processes.ts"
import * as Recording from "../harness/Recording.ts"
import * as Serve from "../harness/Serve.ts"
import { decimal, integer, median, print, progress } from "../harness/Table.ts"
import type { Options } from "./Options.ts"

/** The coordinator of a cluster, all of whose nodes run on this machine. */
const url = process.env["TACHOGRAPH_TEST_CITUS_URL"] || undefined

const connections = 32

/** The first events of the load make its sessions, agents and people, most of which are of all nodes. */
const setUpSeconds = 20

/** The first process of a node, of which all others are children. */
interface Node {
  readonly name: string
  readonly postmaster: number
}

/** The parent of a process. */
const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1])

/** The first line of this file in a node's folder is the number of its first process. Takes a role that may read it. */
const postmaster = "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)"

const nodesOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [own] = yield* sql<{ readonly pid: string }>`${sql.literal(postmaster)} AS pid`
  const workers = yield* sql<{ readonly pid: string }>`SELECT result AS pid
    FROM run_command_on_workers(${postmaster}) ORDER BY nodeport`
  return [
    { name: "coordinator", postmaster: Number(own!.pid) },
    ...workers.map(({ pid }, index) => ({ name: `worker ${index + 1}`, postmaster: Number(pid) }))
  ] satisfies ReadonlyArray<Node>
})

/** The processor time of a node (ms): of its processes, and of those that have ended. */
const cpuOf = ({ postmaster }: Node): number => {
  const alive = readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && parentOf(Number(name)) === postmaster
    } catch {
      // It has ended meanwhile.
      return false
    }
  })
  const own = [postmaster, ...alive.map(Number)].map((pid) => Processes.usageOf(pid).cpu)
  return own.filter((cpu) => !Number.isNaN(cpu)).reduce((sum, cpu) => sum + cpu, Processes.ofEnded(postmaster))
}

interface Side {
  readonly name: string
  readonly isDistributed: boolean
}

const sides: ReadonlyArray<Side> = [
  { name: "one Postgres: the coordinator's", isDistributed: false },
  { name: "the cluster", isDistributed: true }
]

/** Records for some seconds through one server. Returns the events per second, and the ms that each node took for one. */
const measure = async (coordinator: string, { isDistributed, name }: Side, seconds: number) => {
  const database = Databases.postgres(coordinator)
  try {
    const storage = Databases.urlOf(database)
    if (isDistributed) execFileSync(process.execPath, [Serve.main, "migrate", "--distribute", "--storage", storage])
    const served = await Serve.serve(storage)
    try {
      const put = await fetch(`${served.url}/api/v1/fingerprints`, {
        method: "PUT",
        headers: Recording.headers,
        body: JSON.stringify(Recording.fingerprint)
      })
      if (put.status !== 200) throw new Error(`The fingerprint was answered with ${put.status}`)
      await Load.run({ url: served.url, connections, seconds: setUpSeconds })
      const nodes = await database.query(nodesOf)
      const before = nodes.map(cpuOf)
      const { failed, perSecond, refusedPerSecond } = await Load.run({ url: served.url, connections, seconds })
      if (failed > 0) throw new Error(`${name}: not every request was answered`)
      const cpu = nodes.map((node, index) => (cpuOf(node) - before[index]!) / (perSecond * seconds))
      return { perSecond, refusedPerSecond, cpu, names: nodes.map((node) => node.name) }
    } finally {
      await served.stop()
    }
  } finally {
    await database.remove()
  }
}

export const cluster = async (options: Options): Promise<void> => {
  if (url === undefined) {
    progress("cluster: left out, as TACHOGRAPH_TEST_CITUS_URL is not set")
    return
  }
  const results = sides.map(() => [] as Array<Awaited<ReturnType<typeof measure>>>)
  for (let run = 1; run <= options.runs; run++) {
    for (const [index, side] of sides.entries()) {
      progress(`cluster: ${side.name}, ${run} of ${options.runs}`)
      results[index]!.push(await measure(url, side, options.seconds))
    }
  }
  const { names } = results[0]![0]!
  print({
    title: "Recording on a cluster",
    columns: ["database", "events/s", "refused/s", ...names.map((name) => `CPU ms an event, ${name}`)],
    rows: sides.map(({ name }, side) => [
      name,
      integer(median(results[side]!.map(({ perSecond }) => perSecond))),
      integer(median(results[side]!.map(({ refusedPerSecond }) => refusedPerSecond))),
      ...names.map((_, node) => decimal(median(results[side]!.map(({ cpu }) => cpu[node]!))))
    ]),
    notes: [
      `Unique events of 4 KiB in 1,000 sessions over ${connections} connections of one server, for ${options.seconds} s, when all ` +
        `sessions, agents and people are known; medians of ${options.runs} turns. All nodes, the server and the client share one ` +
        `machine, so only the processor time says something. A server that has too much to do refuses events before it asks a node.`
    ]
  })
}
