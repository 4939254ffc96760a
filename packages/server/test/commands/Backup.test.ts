/** Backups: `tachograph backup`, `tachograph restore`, and those that a server makes. */
import { HttpClient } from "@tachograph/testkit"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import * as Files from "../../src/backup/Files.ts"
import { expectUsageError, runInProcess, serveInProcess } from "../CommandLine.ts"
import * as KeptStore from "../KeptStore.ts"
import { serveAndRecord } from "../RecordingServer.ts"
import { serve, temporaryFolder } from "../TachographProcess.ts"

/** A store with the tables of this version, and a backup of it: made once, and copied. */
let made: Promise<{ readonly file: string; readonly path: string }> | undefined

const make = async () => {
  const { file, folder, storage } = KeptStore.copyOf("0001-initial")
  await runInProcess(["migrate", "--storage", storage])
  const path = join(folder, "backup.db")
  const { code, stderr } = await runInProcess(["backup", "--storage", storage, path])
  expect([code, stderr]).toEqual([0, ""])
  return { file, path }
}

/** A store without a server, and a backup of it. */
const backedUp = async () => {
  const { file: madeFile, path: madePath } = await (made ??= make())
  const folder = temporaryFolder()
  const [file, path] = [join(folder, "tachograph.db"), join(folder, "backup.db")]
  copyFileSync(madeFile, file)
  copyFileSync(madePath, path)
  const storage = `sqlite:${file}`
  const restore = () => runInProcess(["restore", "--storage", storage, path])
  return { file, folder, path, restore, storage }
}

const change = (file: string, sql: string) => {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

const rows = (file: string, sql: string) => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

const idsIn = (file: string): ReadonlySet<string> =>
  new Set(rows(file, "SELECT lower(hex(event_id)) AS id FROM events").map(({ id }) => String(id)))

const properties = { api: "aisdk", inputs: { text: "x".repeat(5_000) }, output: {} }

describe("tachograph backup", () => {
  it("copies all that was acknowledged before it began, while a server records", async () => {
    const { cwd, key, record, server, storage } = await serveAndRecord("admin")
    const acknowledged: Array<string> = []
    let isOver = false
    onTestFinished(() => void (isOver = true))
    const recording = Array.from({ length: 2 }, async (_, n) => {
      while (!isOver) {
        const { event_id: id } = await record({ session: `s${n}`, properties })
        acknowledged.push(id.replaceAll("-", ""))
        // The backup reads every event back.
        await sleep(5)
      }
    })
    const copies: Array<{ readonly path: string; readonly before: ReadonlyArray<string> }> = []
    for (let n = 0; n < 2; n++) {
      const had = acknowledged.length
      await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(had + 10), { timeout: 60_000 })
      const path = join(cwd, `copy-${n}.db`)
      const before = [...acknowledged]
      const made = await runInProcess(["backup", "--storage", storage, path])
      expect([made.code, made.stderr]).toEqual([0, ""])
      expect(made.stdout).toMatch(/^Backed up .*: nothing is wrong\n$/)
      copies.push({ path, before })
    }
    isOver = true
    await Promise.all(recording)
    expect((await server.stop()).code).toBe(0)

    for (const { before, path } of copies) {
      const ids = idsIn(path)
      expect(before.filter((id) => !ids.has(id))).toEqual([])
      expect((statSync(path).mode & 0o777).toString(8)).toBe("600")
    }
    const left = readdirSync(cwd).filter((name) => !name.endsWith("-reserve"))
    expect(left.toSorted()).toEqual([...copies.map(({ path }) => path.slice(cwd.length + 1)), "tachograph.db"])
    // It serves with the same keys.
    const again = await serveInProcess(["--storage", `sqlite:${copies.at(-1)!.path}`], "1 minute")
    const answer = await HttpClient.open(again, key).get(
      `/api/v1/events/${copies
        .at(-1)!
        .before.at(-1)!
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")}`
    )
    expect([answer.status, answer.body.properties]).toEqual([200, properties])
  })

  it("never overwrites a file, and leaves none where it fails", async () => {
    const { folder, path, storage } = await backedUp()
    const bytes = readFileSync(path)
    const again = await runInProcess(["backup", "--storage", storage, path])
    expect([again.code, again.stderr]).toEqual([1, `tachograph: ${path} exists: a backup never overwrites a file\n`])
    expect(readFileSync(path).equals(bytes)).toBe(true)
    const nowhere = await runInProcess(["backup", "--storage", storage, join(folder, "none", "a.db")])
    expect([nowhere.code, nowhere.stderr]).toEqual([
      1,
      `tachograph: The folder ${join(folder, "none")} does not exist\n`
    ])
    const other = join(folder, "other.db")
    writeFileSync(`${other}.partial`, "")
    const interrupted = await runInProcess(["backup", "--storage", storage, other])
    expect([interrupted.code, interrupted.stderr]).toEqual([
      1,
      expect.stringContaining("other.db.partial is there: remove it")
    ])
    rmSync(`${other}.partial`)
    // The file that it copies is not what it was.
    truncateSync(join(folder, "tachograph.db"), 100_000)
    const failed = await runInProcess(["backup", "--storage", storage, other])
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringMatching(/: the file is damaged\n$/)])
    expect(readdirSync(folder).filter((name) => name.startsWith("other"))).toEqual([])
  })

  it("keeps the copy of a damaged storage beside, and says what is wrong", async () => {
    const { file, folder, storage } = await backedUp()
    change(file, "UPDATE packs SET pack = zeroblob(length(pack)) WHERE pack_number = 2 AND session_number = 1")
    const path = join(folder, "damaged.db")
    const { code, stderr } = await runInProcess(["backup", "--storage", storage, path])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^tachograph: The storage is damaged: pack-damaged: session .* \(and \d+ more\)\. The copy is .*damaged\.db\.damaged; /
      )
    ])
    expect([existsSync(path), idsIn(`${path}.damaged`).size]).toEqual([false, 38])
  })

  it("says what to use for a storage that is no file", async () => {
    const backup = (storage: string) => runInProcess(["backup", "--storage", storage, "x.db"])
    expectUsageError(await backup("memory:"), "keeps nothing, so there is nothing to back up: docs/operate.md")
    expectUsageError(await backup("sqlite::memory:"), "is not a file")
    expectUsageError(
      await backup("postgres://u:p@127.0.0.1/d"),
      "pg_dump backs a Postgres up, and docs/postgres.md says how"
    )
    expectUsageError(
      await runInProcess(["restore", "--storage", "postgres://u:p@127.0.0.1/d", "x.db"]),
      "docs/postgres.md"
    )
    const missing = await backup(`sqlite:${join(temporaryFolder(), "none.db")}`)
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("The storage does not exist")])
  })
})

describe("tachograph restore", () => {
  it("puts a backup where no file is, and where the file has nothing else, which it moves aside", async () => {
    const { file, folder, path, restore } = await backedUp()
    rmSync(file)
    const restored = await restore()
    expect([restored.code, restored.stderr]).toEqual([0, ""])
    expect(restored.stdout).toMatch(/^Restored .* to .*\. Verified 38 events .*: nothing is wrong\n$/)
    expect(readFileSync(file).equals(readFileSync(path))).toBe(true)
    expect((statSync(file).mode & 0o777).toString(8)).toBe("600")
    const before = readFileSync(file)
    expect((await restore()).stdout).toMatch(/What was there is .*tachograph\.db\.before-\d{8}T\d{6}Z\./)
    const aside = readdirSync(folder).filter((name) => name.startsWith("tachograph.db.before-"))
    expect(aside).toHaveLength(1)
    expect(readFileSync(join(folder, aside[0]!)).equals(before)).toBe(true)
  })

  it.each<[what: string, prepare: (store: Awaited<ReturnType<typeof backedUp>>) => void, message: RegExp]>([
    [
      "whose storage has events that it does not have",
      ({ path }) => change(path, "DELETE FROM events WHERE session_number = 3"),
      /Cannot restore .*backup\.db: .*Nothing was changed/
    ],
    ["that is cut", ({ path }) => truncateSync(path, 100_000), /Cannot restore .*backup\.db\): the file is damaged/],
    [
      "with a damaged event",
      ({ path }) => change(path, "UPDATE packs SET pack = zeroblob(length(pack)) WHERE session_number = 2"),
      /Cannot restore .*backup\.db: pack-damaged: .*Nothing was changed/
    ],
    [
      "of a later version",
      ({ path }) => change(path, "INSERT INTO tachograph_migrations (migration_id, name) VALUES (9999, 'later')"),
      /a later version of Tachograph has migrated the tables \(9999_later\)/
    ],
    [
      "of another program",
      ({ path }) => {
        rmSync(path)
        change(path, "CREATE TABLE notes (text TEXT)")
      },
      /the tables of another program/
    ],
    ["that is no database", ({ path }) => writeFileSync(path, "x".repeat(5_000)), /not a SQLite database/],
    ["that does not exist", ({ path }) => rmSync(path), /backup\.db does not exist/],
    [
      "with a log beside it",
      ({ path }) => writeFileSync(`${path}-wal`, "x"),
      /backup\.db-wal belongs to .*tachograph backup --storage/
    ]
  ])("refuses a backup %s, and changes nothing", async (_, prepare, message) => {
    const store = await backedUp()
    prepare(store)
    const before = readFileSync(store.file)
    const { code, stderr, stdout } = await store.restore()
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr).toMatch(message)
    expect(readFileSync(store.file).equals(before)).toBe(true)
    expect(readdirSync(store.folder).filter((name) => /partial|before/.test(name))).toEqual([])
  })

  it("refuses where events would be lost, or where their log is left, and says what to do", async () => {
    const { file, folder, path, restore, storage } = await backedUp()
    const later = join(folder, "later.db")
    copyFileSync(path, later)
    const server = await serve(["--port", "0", "--storage", storage])
    const admin = HttpClient.open(server.url, KeptStore.contentOf("0001-initial").keys.admin)
    const { fingerprint_id } = (await admin.get("/api/v1/events?limit=1")).body.events[0]
    expect(
      (await admin.post("/api/v1/events", { event_name: "llm", fingerprint_id, session: "new", properties })).status
    ).toBe(200)
    const open = await restore()
    expect([open.code, open.stderr]).toEqual([1, expect.stringContaining("tachograph.db is open: stop the server")])
    await server.stop("SIGKILL")
    // With its log this would be neither the one nor the other.
    copyFileSync(file, `${file}.kept`)
    copyFileSync(path, file)
    const over = [readFileSync(file), readFileSync(`${file}-wal`)]
    expect((await restore()).stderr).toContain(`${file}-wal does not belong to ${file}`)
    expect([readFileSync(file), readFileSync(`${file}-wal`)]).toEqual(over)
    copyFileSync(`${file}.kept`, file)
    const lost = await restore()
    expect([lost.code, lost.stderr]).toEqual([
      1,
      expect.stringMatching(
        /tachograph\.db has 1 event that the backup does not have, received until 20.*Z\. Nothing was changed\. /
      )
    ])
    // As the message says.
    renameSync(file, `${file}.old`)
    writeFileSync(`${file}-wal`, "left")
    expect((await restore()).stderr).toContain("tachograph.db-wal is there without its file")
    rmSync(`${file}-wal`)
    expect((await restore()).code).toBe(0)
    const copied = await runInProcess(["copy", `sqlite:${file}.old`, storage])
    expect([copied.code, copied.stderr]).toEqual([0, expect.stringContaining("38 events")])
    expect(idsIn(file).size).toBe(39)
  })
})

describe("tachograph serve --backup", () => {
  it("makes a backup, and counts one that fails", async () => {
    const { folder, storage } = KeptStore.copyOf("0001-initial")
    const backups = join(folder, "backups")
    mkdirSync(backups)
    const old = ["20200101T000000Z", "20200102T000000Z"].map((time) => `tachograph-${time}.db`)
    const foreign = ["notes.txt", "tachograph-20200101T000000Z.db.bak", "other-20200101T000000Z.db"]
    for (const name of [...old, ...foreign, "tachograph-20200103T000000Z.db.partial"])
      writeFileSync(join(backups, name), "")
    const options = ["--port", "0", "--storage", storage, "--backup", backups, "--backup-keep", "2"]
    const metric = async (url: string, name: string) =>
      Number(new RegExp(`^tachograph_${name} (.*)$`, "m").exec(await (await fetch(`${url}/metrics`)).text())![1])

    const server = await serve(options)
    await vi.waitFor(async () => expect(await metric(server.url, "backups_total")).toBe(1), {
      timeout: 110_000,
      interval: 100
    })
    const left = await vi.waitFor(() => {
      const names = readdirSync(backups)
      expect(names).not.toContain(old[0])
      return names
    })
    const [made] = left.filter((name) => ![...old, ...foreign].includes(name))
    expect(left.toSorted()).toEqual([...foreign, old[1]!, made!].toSorted())
    expect(idsIn(join(backups, made!)).size).toBe(38)
    expect(await metric(server.url, "backup_last_timestamp_seconds")).toBeGreaterThan(Date.parse("2026-01-01") / 1_000)
    expect(await metric(server.url, "backup_failures_total")).toBe(0)
    expect((await server.stop()).stderr).toBe("")

    // The last one is not due again after a restart; where it is, and the storage is damaged, that one is kept beside.
    rmSync(join(backups, made!))
    change(join(folder, "tachograph.db"), "UPDATE packs SET pack = zeroblob(length(pack)) WHERE session_number = 1")
    const again = await serve(options)
    await vi.waitFor(async () => expect(await metric(again.url, "backup_failures_total")).toBe(1), {
      timeout: 110_000,
      interval: 100
    })
    const stopped = await again.stop()
    expect(stopped.stdout + stopped.stderr).toMatch(
      /The backup failed: The storage is damaged: .* The copy is .*\.db\.damaged/
    )
    expect(readdirSync(backups).filter((name) => name.endsWith(".damaged"))).toHaveLength(1)
    expect(readdirSync(backups)).toContain(old[1])
  })

  it("keeps the last backups that it made, and deletes no other file", () => {
    const folder = temporaryFolder()
    const own = [1, 2, 3, 4].map((day) => Files.nameAt(Date.UTC(2026, 0, day)))
    const damaged = own.map((name) => `${name}.damaged`)
    const foreign = ["tachograph.db", `${own[0]}.old`, `x${own[0]}`, "tachograph-2026.db"]
    const partial = [`${own[3]}.partial`, `${own[3]}.partial-journal`]
    for (const name of [...own, ...damaged, ...foreign, ...partial]) writeFileSync(join(folder, name), "")
    Files.rotate(folder, 3)
    expect(readdirSync(folder).toSorted()).toEqual([...own.slice(1), damaged[3]!, ...foreign].toSorted())
    expect(Files.lastOwn(folder)).toBe(Date.UTC(2026, 0, 4))
    Files.rotate(folder, 3)
    expect(readdirSync(folder)).toHaveLength(8)
  })

  it.each([
    [["--backup", "/no/such/folder"], 1, "The folder of --backup does not exist: /no/such/folder. Make it first"],
    [["--backup", ".", "--storage", "memory:"], 2, "there is nothing to back up"],
    [["--backup-keep", "0"], 2, '--backup-keep is "0": expected a number from 1 to 10000'],
    [["--backup-keep", "10001"], 2, '--backup-keep is "10001"'],
    [["--backup-every", "often"], 2, '--backup-every is "often": expected a time such as']
  ])("refuses %j", async (args, expected, message) => {
    const { code, stderr } = await runInProcess(["serve", ...args])
    expect([code, stderr]).toEqual([expected, expect.stringContaining(message)])
  })
})
