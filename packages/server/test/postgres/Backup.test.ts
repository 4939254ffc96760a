/** Does what docs/postgres.md says of backups, by its commands as they are printed, with the PostgreSQL that the machine has. */
import { HttpClient } from "@tachograph/testkit"
import { appendFileSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { join } from "node:path"
import { expect, it } from "vitest"
import { afterFile } from "../../../../scripts/vitest/AfterFile.ts"
import { runInProcess, serveInProcess } from "../CommandLine.ts"
import * as Documented from "../Documented.ts"
import { folder, ownFolder, shell, title } from "./PostgresPrograms.ts"

const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })

const [dump, restore, baseBackup, recover] = Documented.blocks("postgres.md", "sh", "## Backups")
const [archiving] = Documented.blocks("postgres.md", "ini", "## Backups")

const superuser = "postgres://postgres:password@db.internal/postgres"

/** A server of its own with the documented settings, whose paths and address stand in place of the documented ones. */
const startServer = async () => {
  const own = ownFolder()
  const address = `127.0.0.1:${await freePort()}`
  const here = (text: string) =>
    text
      .replaceAll("db.internal", address)
      .replaceAll("/backup/", `${own}/`)
      .replaceAll("/var/lib/postgresql/", `${own}/`)
  const bash = (commands: string) => shell(here(commands), own)
  await bash("mkdir log; initdb --pgdata=main --username=postgres --auth=trust --no-sync")
  const settings = `listen_addresses = '127.0.0.1'\nport = ${address.split(":")[1]}\nunix_socket_directories = ''\nfsync = off\n`
  appendFileSync(join(own, "main/postgresql.conf"), settings + here(archiving!))
  afterFile(() => bash("for each in main recovered; do pg_ctl --pgdata=$each --mode=immediate stop || true; done"))
  await bash("pg_ctl --pgdata=main --log=main.log start")
  await bash(`psql --quiet --dbname="${superuser}" --command="CREATE ROLE tachograph LOGIN"`)
  await bash(`createdb --maintenance-db="${superuser}" --owner=tachograph tachograph`)
  return { bash, here }
}

/** Records events of a session, and returns their ids. */
const record = async (client: HttpClient.Client, session: string, count: number): Promise<ReadonlyArray<string>> => {
  const { body } = await client.put("/api/v1/fingerprints", { language: "l", language_version: "v", system: "s" })
  const ids: Array<string> = []
  while (ids.length < count) {
    const answer = await client.post("/api/v1/events", {
      event_name: "llm",
      properties: { api: "aisdk", inputs: { texts: ["kept", ids.length] }, output: {} },
      fingerprint_id: body.fingerprint_id,
      session
    })
    expect(answer.status).toBe(200)
    ids.push(answer.body.event_id)
  }
  return ids
}

const stored = async (client: HttpClient.Client): Promise<ReadonlyArray<string>> => {
  const { body, status } = await client.get("/api/v1/events?limit=1000")
  expect(status).toBe(200)
  return body.events.map((event: { readonly event_id: string }) => event.event_id)
}

/** Runs the lines for the shell, and those of the product in this process. */
const follow = async (
  commands: string,
  bash: (commands: string) => Promise<unknown>,
  here: (text: string) => string
) => {
  const isOwn = (line: string) => line.startsWith("tachograph ")
  const lines = commands.trim().split("\n")
  await bash(lines.filter((line) => !isOwn(line)).join("\n"))
  for (const line of lines.filter(isOwn)) {
    const args = here(line).replaceAll('"', "").split(" ").slice(1)
    expect(await runInProcess(args)).toMatchObject({ code: 0, stderr: "" })
  }
}

it(`the commands of docs/postgres.md back up and restore, in their order${title}`, async () => {
  expect([dump, restore, baseBackup, recover, archiving]).not.toContain(undefined)
  if (folder === undefined) return
  const { bash, here } = await startServer()
  const url = (database: string) => here(`postgres://tachograph:password@db.internal/${database}`)
  const created = await runInProcess(["keys", "create", "--scope", "admin", "--storage", url("tachograph")])
  const key = created.stdout.trim()
  const serve = async (database: string) =>
    HttpClient.open(await serveInProcess(["--storage", url(database)], "1 second"), key)

  const client = await serve("tachograph")
  const before = await record(client, "before the dump", 20)
  const [meanwhile] = await Promise.all([record(client, "beside the dump", 20), follow(dump!, bash, here)])
  await follow(restore!, bash, here)
  const restored = await stored(await serve("restored"))
  expect(before.filter((id) => !restored.includes(id))).toEqual([])
  expect(restored.filter((id) => !before.includes(id) && !meanwhile.includes(id))).toEqual([])
  const again = restore!.split("\n").find((line) => line.startsWith("pg_restore"))!
  await expect(bash(again)).rejects.toThrow("already exists")
  expect(await stored(await serve("restored"))).toEqual(restored)

  await follow(baseBackup!, bash, here)
  const kept = [...before, ...meanwhile, ...(await record(client, "after the base backup", 3))]
  const ask = `psql --quiet --tuples-only --no-align --dbname="${superuser}" --command`
  const { stdout } = await bash(`${ask}="SELECT clock_timestamp()"`)
  const [late] = await record(client, "too late", 1)
  await bash(`${ask}="SELECT pg_switch_wal()" > /dev/null; pg_ctl --pgdata=main stop`)
  await bash(recover!.replace(/(?<=recovery_target_time = ')[^']+/, stdout.trim()))
  const isRecovered = async () => (await bash(`${ask}="SELECT NOT pg_is_in_recovery()"`)).stdout.trim()
  await expect.poll(isRecovered).toBe("t")
  const recovered = await stored(await serve("tachograph"))
  expect(kept.filter((id) => !recovered.includes(id))).toEqual([])
  expect(recovered).not.toContain(late)
})
