/** The nodes of a Citus cluster on this machine, each of which can be killed and started again. */
import { spawn } from "node:child_process"
import { readFileSync, readlinkSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { type Database, databaseAt } from "./Postgres.ts"
import * as Processes from "./Processes.ts"

/** The URL of the coordinator; undefined if there is no cluster. */
export const citusUrl = process.env["TACHOGRAPH_TEST_CITUS_URL"] || undefined

export interface Node {
  readonly host: string
  readonly port: number
  /** Sends SIGKILL to all its processes. */
  readonly kill: () => Promise<void>
  /** Stops all its processes where they are. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Starts it if it was killed, without waiting for it. */
  readonly launch: () => void
  /** Starts it, and resolves when it accepts connections. */
  readonly start: () => Promise<void>
}

export interface Cluster extends Database {
  readonly coordinator: Node
  /** Those with shards. */
  readonly workers: ReadonlyArray<Node>
}

/** How long a node may take to start (ms). */
const maxStartMs = 60_000

/** A file of texts, each of which ends with a zero byte. */
const listIn = (file: string): ReadonlyArray<string> => readFileSync(file, "utf8").split("\0").slice(0, -1)

/** Rejects if its processes are not of this machine, or not to be seen. */
const nodeAt = async (url: string, host: string, port: number): Promise<Node> => {
  const own = new URL(url)
  own.hostname = host
  own.port = String(port)
  const { run } = databaseAt(own.href)
  const folder = String((await run("SHOW data_directory"))[0]!["data_directory"])
  const pidFile = join(folder, "postmaster.pid")
  // It is started again as it was started.
  const process = `/proc/${Number.parseInt(readFileSync(pidFile, "utf8"))}`
  const program = readlinkSync(join(process, "exe"))
  const [, ...args] = listIn(join(process, "cmdline"))
  // Its sockets have locks, too.
  args.push("-c", "unix_socket_directories=")
  // With its own home, where it looks for certificates.
  const env = Object.fromEntries(listIn(join(process, "environ")).map((each) => each.split(/=(.*)/s)))
  const { gid, uid } = statSync(process)
  let isDown = false
  let frozen: ReadonlyArray<number> = []
  const launch = () => {
    if (!isDown) return
    isDown = false
    spawn(program, args, { cwd: folder, detached: true, env, gid, stdio: "ignore", uid }).unref()
  }
  return {
    host,
    port,
    kill: async () => {
      // It may have started others meanwhile, and does not start again before the last of them has ended.
      for (let all = Processes.workingIn(folder); all.length > 0; all = Processes.workingIn(folder)) {
        Processes.signal(all, "SIGKILL")
        await Processes.exited(all)
      }
      // PostgreSQL would not start while the parent of the killed process has not taken note of its end.
      rmSync(pidFile)
      isDown = true
    },
    freeze: () => {
      frozen = Processes.workingIn(folder)
      Processes.signal(frozen, "SIGSTOP")
    },
    thaw: () => {
      Processes.signal(frozen, "SIGCONT")
      frozen = []
    },
    launch,
    start: async () => {
      launch()
      for (const startedAt = performance.now(); ; await wait(50)) {
        try {
          await run("SELECT 1")
          return
        } catch (error) {
          if (performance.now() - startedAt > maxStartMs) throw error
        }
      }
    }
  }
}

export const connect = async (url: string): Promise<Cluster> => {
  const database = databaseAt(url)
  const rows = await database.run(
    "SELECT nodename, nodeport FROM pg_dist_node WHERE shouldhaveshards ORDER BY nodeport"
  )
  const { hostname, port } = new URL(url)
  return {
    ...database,
    coordinator: await nodeAt(url, hostname, Number(port)),
    workers: await Promise.all(rows.map((row) => nodeAt(url, String(row["nodename"]), Number(row["nodeport"]))))
  }
}
