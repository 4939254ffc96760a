/** Servers from a physical copy of another one, made while that one runs. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PostgresStorage } from "../src/index.ts"
import { freePort, type OwnPostgres } from "./StartPostgres.ts"

export const query = <Row extends object>(url: string, text: string): Promise<ReadonlyArray<Row>> =>
  Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Row>(text)).pipe(
      Effect.provide(PostgresStorage.client({ url, maxConnections: 1 }))
    )
  )

/** What a server leaves in its folder that a copy must not have. */
const ofTheProcess = ["postmaster.pid", "postmaster.opts", "pg_wal"]

/** Copies the files of a running server: its log is not copied, and comes from a stream or an archive. */
export const copyFiles = async (server: OwnPostgres): Promise<string> => {
  const folder = join(tmpdir(), `tachograph-postgres-copy-${process.pid}-${await freePort()}`)
  const copying = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const connection = yield* sql.reserve
    const run = (text: string) => connection.executeUnprepared(text, [], undefined)
    yield* run("SELECT pg_backup_start('copy', fast => true)")
    yield* Effect.sync(() => execFileSync("cp", ["-a", server.databaseDir, folder]))
    return yield* run("SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)")
  })
  const [row] = await Effect.runPromise(
    Effect.scoped(copying).pipe(Effect.provide(PostgresStorage.client({ url: server.url })))
  )
  for (const name of ofTheProcess) rmSync(join(folder, name), { recursive: true, force: true })
  mkdirSync(join(folder, "pg_wal", "archive_status"), { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, "backup_label"), (row as { readonly labelfile: string }).labelfile)
  const { gid, uid } = statSync(server.databaseDir)
  execFileSync("chown", ["-R", `${uid}:${gid}`, folder])
  return folder
}

export interface Copy {
  readonly url: string
  readonly remove: () => Promise<void>
}

/** Starts the program of a server over a copy of its files, and waits until it takes connections. */
export const startCopy = async (
  server: OwnPostgres,
  folder: string,
  settings: ReadonlyArray<string>
): Promise<Copy> => {
  const port = await freePort()
  const { gid, uid } = statSync(folder)
  // A copy waits for no standby.
  const flags = ["listen_addresses=127.0.0.1", "synchronous_standby_names=", ...settings].flatMap((setting) => [
    "-c",
    setting
  ])
  const child = spawn(server.program(), ["-D", folder, "-p", String(port), ...flags], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, LC_MESSAGES: "C" },
    ...(process.getuid?.() === 0 ? { uid, gid } : {})
  })
  const clean = () => {
    child.kill("SIGQUIT")
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
  process.once("exit", clean)
  let log = ""
  await new Promise<void>((resolve, reject) => {
    child.stderr.on("data", (chunk) => {
      log += String(chunk)
      if (log.includes("ready to accept")) resolve()
    })
    child.once("exit", () => reject(new Error(`The copy did not start:\n${log}`)))
  })
  const url = new URL(server.url)
  url.port = String(port)
  return {
    url: url.href,
    remove: async () => {
      process.off("exit", clean)
      if (child.exitCode === null) {
        const exited = once(child, "exit")
        child.kill("SIGQUIT")
        await exited
      }
      clean()
    }
  }
}

/** A standby that follows a server by the stream of its log. */
export const startStandby = async (primary: OwnPostgres): Promise<Copy> => {
  const folder = await copyFiles(primary)
  writeFileSync(join(folder, "standby.signal"), "")
  const { password, port, username } = new URL(primary.url)
  const from = `host=127.0.0.1 port=${port} user=${username} password=${password} application_name=standby`
  return startCopy(primary, folder, [`primary_conninfo=${from}`])
}
