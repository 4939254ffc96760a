import { Storage, type Verifier } from "@tachograph/core"
import { SqliteClient, SqliteStorage } from "@tachograph/storage-sqlite"
import { HttpClient, RoundTrip, VerifySuite } from "@tachograph/testkit"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { expectUsageError, runInProcess, serveInProcess } from "../CommandLine.ts"
import * as Documented from "../Documented.ts"
import { start, temporaryFolder } from "../TachographProcess.ts"

const { damages, Rows, Store } = VerifySuite

const fast = ["--rate", "100%"]

/** Every kind of finding; the compiler says which is missing. */
const problems = Object.keys({
  "event-damaged": 0,
  "event-not-found": 0,
  "event-not-listed": 0,
  "event-without-pack": 0,
  "fingerprint-missing": 0,
  "pack-damaged": 0,
  "pack-without-event": 0,
  "step-damaged": 0,
  "steps-without-pack": 0,
  "texts-not-erased": 0,
  "session-missing": 0,
  "session-not-found": 0,
  "session-empty": 0,
  "counter-wrong": 0,
  "shared-piece-damaged": 0,
  "shared-piece-missing": 0,
  "shared-piece-not-owned": 0,
  "shared-piece-unused": 0,
  "shared-piece-without-owner": 0,
  "rollup-wrong": 0,
  "file-damaged": 0,
  unreadable: 0
} satisfies Record<Verifier.Problem, 0>)

/** The first few damages, in the order of the list, that cause all problems which any of them causes. */
const severalDamages = () => {
  const seen = new Set<string>()
  return damages.filter(({ problems }) => {
    const isNew = problems.some((problem) => !seen.has(problem))
    for (const problem of problems) seen.add(problem)
    return isNew
  })
}

const damageNamed = (name: string) => damages.find((damage) => damage.name === name)!

const lostTexts: Readonly<Record<Verifier.Lost, string>> = {
  fields: "fields other than inputs and output",
  texts: "inputs and output",
  "fields and texts": "all of it"
}

describe("tachograph verify", () => {
  let filename: string
  let storage: string
  let tables: VerifySuite.Rows.Tables
  const withSql = <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
    Effect.runPromise(Effect.provide(Effect.flatMap(SqlClient.SqlClient, use), SqliteClient.layer({ filename })))

  /** Runs `body` while rows of the store are changed. */
  const changing = <A>(changes: ReadonlyArray<VerifySuite.Rows.Change>, body: () => Promise<A>) =>
    withSql((sql) => Rows.changing(sql, changes, Effect.promise(body)))

  const verify = (...args: ReadonlyArray<string>) => runInProcess(["verify", "--storage", storage, ...fast, ...args])

  const verifyJson = async (...args: ReadonlyArray<string>) => {
    const { code, stderr, stdout } = await verify("--json", ...args)
    expect(stderr).toBe("")
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    return { code, findings: lines.slice(0, -1), summary: lines.at(-1) }
  }

  beforeAll(async () => {
    filename = join(temporaryFolder(), "store.db")
    storage = `sqlite:${filename}`
    await Effect.runPromise(Effect.provide(Effect.flatMap(Storage, Store.fill), SqliteStorage.layer({ filename })))
    tables = await withSql(Rows.selectAll)
  })

  it("finds nothing wrong in a healthy store, and changes nothing in it", async () => {
    const before = readFileSync(filename)
    const { code, stderr, stdout } = await verify()
    expect([code, stderr]).toEqual([0, ""])
    const [summary, pending, ...rest] = stdout.trimEnd().split("\n")
    expect(summary).toMatch(
      /^Verified \d+ events \([\d.]+ KiB\), \d+ packs and \d+ shared pieces in 5 sessions of 2 projects: nothing is wrong$/
    )
    expect(pending).toContain("In 1 session an erasure is running, or was interrupted")
    expect(rest).toEqual([])
    expect(await verifyJson()).toEqual({
      code: 0,
      findings: [],
      summary: expect.objectContaining({ type: "summary", complete: true, events: tables.events.length, problems: 0 })
    })
    expect(readFileSync(filename)).toEqual(before)
  })

  it.each(severalDamages())("prints that $name", async ({ change, lost, problems }) => {
    const { asJson, asText } = await changing(change(tables), async () => ({
      asJson: await verifyJson(),
      asText: await verify()
    }))
    expect([asJson.code, asText.code, asText.stderr]).toEqual([1, 1, ""])
    const { findings, summary } = asJson
    expect(Array.from(new Set(findings.map(({ problem }) => problem))).sort()).toEqual([...problems].sort())
    const damaged = findings.filter(({ problem }) => problem === "event-damaged")
    expect(summary).toMatchObject({ problems: findings.length, damaged_events: damaged.length })
    expect(new Set(damaged.map((finding) => finding.lost))).toEqual(new Set(damaged.length === 0 ? [] : [lost]))
    const lines = asText.stdout.trimEnd().split("\n")
    for (const [index, { event_id, problem, reason, session }] of findings.entries()) {
      expect(lines[index]).toMatch(new RegExp(`^${problem}: `))
      for (const part of [event_id ?? "", session ?? "", reason]) expect(lines[index]).toContain(part)
      if (problem === "event-damaged") expect(lines[index]).toContain(`(lost: ${lostTexts[lost!]})`)
    }
    expect(lines[findings.length]).toContain(`: ${findings.length} problem`)
  })

  it("verifies only what is selected", async () => {
    const { change } = damageNamed("one bit of a pack differs")
    await changing(change(tables), async () => {
      expect(await verifyJson("--project", "other")).toMatchObject({ code: 0, summary: { projects: 1, sessions: 1 } })
      expect(await verifyJson("--project", "default")).toMatchObject({ code: 1, summary: { projects: 1, sessions: 4 } })
      expect(await verifyJson("--session", "swept")).toMatchObject({ code: 0, summary: { sessions: 1 } })
      expect(await verifyJson("--session", "whole")).toMatchObject({ code: 1, summary: { sessions: 1 } })
      expect(await verifyJson("--since", "1h")).toMatchObject({ code: 1, summary: { sessions: 5 } })
      expect(await verifyJson("--since", "2099-01-01")).toMatchObject({ code: 0, summary: { sessions: 0 } })
      expect(await verifyJson("--since", "2001-01-01T00:00:00+02:00")).toMatchObject({ code: 1 })
    })
  })

  it("escapes control characters in names", async () => {
    const [row] = tables.sessions
    const renamed = { table: "sessions", from: row!, to: { ...row!, session_id: "a\nb\u001b[31m" } } as const
    const { stdout } = await changing([renamed], () => verify("--project", "default"))
    expect(stdout).toContain(String.raw`session "a\nb\u001b[31m", project "default"`)
  })

  it.each([
    [["--storage", "memory:"], "keeps no events"],
    [["--project", ""], '--project is "": expected a name'],
    [["--session", ""], '--session is "": expected the name of a session'],
    [["--since", "soon"], '--since is "soon": expected a time such as'],
    [["--since", "2026-13-01"], '--since is "2026-13-01": expected a time such as'],
    [["--since", "12h", "--session", "s"], "--session excludes it"],
    [["--rate", "0%"], '--rate is "0%": expected a share of the time from 1% to 100%'],
    [["--rate", "101%"], '--rate is "101%": expected a share'],
    [["more"], 'Unexpected positional argument: "more"']
  ])("rejects %j with one line and exit code 2", async (args, message) => {
    expectUsageError(await runInProcess(["verify", ...args]), message)
  })

  it("offers no storage that it refuses", async () => {
    const { stdout } = await runInProcess(["verify", "--help"])
    expect(stdout).toContain("sqlite:PATH or postgres://")
    expect(stdout).not.toContain("memory:")
  })

  it("exits with 2 where there is nothing to verify, and creates nothing", async () => {
    const missing = join(temporaryFolder(), "missing.db")
    expectUsageError(await runInProcess(["verify", "--storage", `sqlite:${missing}`]), "The storage does not exist")
    expect(existsSync(missing)).toBe(false)
    expectUsageError(await verify("--project", "none"), 'There is no project "none"')
    expectUsageError(await verify("--session", "none"), 'There is no session "none"')
  })

  it("exits with 2 if the tables are not those of its version, and migrates nothing", async () => {
    const applied = await withSql((sql) => sql<Record<string, unknown>>`SELECT * FROM tachograph_migrations`)
    await withSql((sql) => sql`DELETE FROM tachograph_migrations`)
    expectUsageError(await verify(), "run `tachograph migrate` first")
    expect(await withSql((sql) => sql`SELECT * FROM tachograph_migrations`)).toEqual([])
    const later = { ...applied[0]!, migration_id: 9_999, name: "later" }
    for (const row of [...applied, later])
      await withSql((sql) => sql`INSERT INTO tachograph_migrations ${sql.insert(row)}`)
    expectUsageError(await verify(), "a later version of Tachograph has migrated the tables")
    await withSql((sql) => sql`DELETE FROM tachograph_migrations WHERE migration_id = 9999`)
    expect((await verify()).code).toBe(0)
  })

  it("says plainly that a file is too damaged to be verified, and exits with 1, or is of another program", async () => {
    const folder = temporaryFolder()
    const verifyFile = async (name: string, change: (file: string) => void) => {
      const file = join(folder, name)
      await withSql((sql) => sql`VACUUM INTO ${file}`)
      change(file)
      const { code, stderr, stdout } = await runInProcess(["verify", "--storage", `sqlite:${file}`])
      expect(stdout).toBe("")
      return [code, stderr.replace(/^.*\): /, "").trim()]
    }
    const overwrite = (at: number) => (file: string) => {
      const bytes = readFileSync(file)
      writeFileSync(file, bytes.fill(0xee, at, at + 64))
    }
    // The beginning of the file, and that of the schema.
    const notSqlite = "the file is not a SQLite database, or its beginning is damaged"
    expect(await verifyFile("header.db", overwrite(0))).toEqual([1, notSqlite])
    expect(await verifyFile("schema.db", overwrite(100))).toEqual([1, "the file is damaged"])
    const replace = (file: string) => {
      rmSync(file)
      const database = new DatabaseSync(file)
      database.exec("CREATE TABLE notes (text TEXT)")
      database.close()
    }
    const foreign = "the file has the tables of another program, and none of Tachograph"
    expect(await verifyFile("foreign.db", replace)).toEqual([2, foreign])
  })

  it("runs beside a server that records", async () => {
    const file = `sqlite:${join(temporaryFolder(), "served.db")}`
    const key = (await runInProcess(["keys", "create", "--scope", "admin", "--storage", file])).stdout.trim()
    const client = HttpClient.open(await serveInProcess(["--storage", file], "1 minute"), key)
    const { body } = await client.put("/api/v1/fingerprints", {
      language: "typescript",
      language_version: "7",
      system: "linux"
    })
    let isRecorded = false
    const sending = RoundTrip.send(client, RoundTrip.sampleRun(body.fingerprint_id, 20)).finally(
      () => (isRecorded = true)
    )
    const codes: Array<number> = []
    for (let isLast = false; !isLast;) {
      isLast = isRecorded
      const { code, stdout } = await runInProcess(["verify", "--storage", file])
      codes.push(code)
      if (isLast) expect(stdout).toContain("Verified 20 events ")
    }
    expect(await RoundTrip.differences(client, await sending)).toEqual([])
    expect(new Set(codes)).toEqual(new Set([0]))
    expect(codes.length).toBeGreaterThan(1)
  })

  it("ends with an incomplete summary at SIGINT, and quietly when its output is closed", async () => {
    // Is found first; the rest takes seconds at this rate.
    const { change } = damageNamed("a fingerprint is missing")
    await changing(change(tables), async () => {
      const slow = () => start(["verify", "--storage", storage, "--rate", "5%"], {})
      const interrupted = slow()
      const closed = slow()
      const seen = ({ output }: ReturnType<typeof start>) =>
        vi.waitFor(() => expect(output().stdout).toContain("fingerprint-missing: event "), { timeout: 60_000 })
      await Promise.all([
        seen(interrupted).then(() => interrupted.child.kill("SIGINT")),
        seen(closed).then(() => closed.child.stdout.destroy())
      ])
      const { code, stderr, stdout } = await interrupted.finished
      expect(code).toBe(130)
      expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^Incomplete: verified \d+ events.*: \d+ problems$/)
      const { code: closedCode, stderr: closedStderr } = await closed.finished
      expect(closedCode).toBe(141)
      // A slow run has progress there.
      expect(stderr + closedStderr).not.toMatch(/tachograph:|Error/)
    })
  })

  it("has a row in docs/verify.md for every problem", () => {
    expect([...Documented.firstCells("verify.md", "## What it finds")].sort()).toEqual([...problems].sort())
  })
})
