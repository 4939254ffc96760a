import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it } from "vitest"
import { expectUsageError, runInProcess } from "../CommandLine.ts"
import * as KeptStore from "../KeptStore.ts"
import { run, temporaryFolder } from "../TachographProcess.ts"

describe("tachograph migrate", () => {
  it("prints the migrations that it ran, or that the tables are up to date", async () => {
    const cwd = temporaryFolder()
    expect(await run(["migrate"], { cwd })).toMatchObject({
      code: 0,
      stdout:
        "Ran 0001_initial, 0002_recorded, 0003_audit_log, 0004_stated_cost, 0005_call_times, 0006_partly_priced, 0007_waiting_parts, 0008_steps, 0009_failures, 0010_session_figures\n"
    })
    expect(await run(["migrate"], { cwd })).toMatchObject({ code: 0, stdout: "The tables are up to date\n" })
  })

  it("only says with --dry-run what it would run", async () => {
    const folder = temporaryFolder()
    const dryRun = (storage: string) => runInProcess(["migrate", "--dry-run", "--storage", storage])
    const missing = join(folder, "missing.db")
    expect(await dryRun(`sqlite:${missing}`)).toMatchObject({
      code: 0,
      stdout:
        "Would run 0001_initial, 0002_recorded, 0003_audit_log, 0004_stated_cost, 0005_call_times, 0006_partly_priced, 0007_waiting_parts, 0008_steps, 0009_failures, 0010_session_figures\n",
      stderr: `The storage does not exist (SQLite, ${missing}): it would be created\n`
    })
    expect(readdirSync(folder)).toEqual([])
    const { file, storage } = KeptStore.copyOf("0001-initial")
    const former = readFileSync(file)
    expect(await dryRun(storage)).toMatchObject({
      code: 0,
      stdout:
        "Would run 0002_recorded, 0003_audit_log, 0004_stated_cost, 0005_call_times, 0006_partly_priced, 0007_waiting_parts, 0008_steps, 0009_failures, 0010_session_figures\n",
      stderr: ""
    })
    expect(readFileSync(file).equals(former)).toBe(true)
    await runInProcess(["migrate", "--storage", storage])
    expect(await dryRun(storage)).toMatchObject({ code: 0, stdout: "The tables are up to date\n", stderr: "" })
    expectUsageError(await runInProcess(["migrate", "--dry-run", "--distribute"]), "without --distribute")
  })

  it("uses the tables of a later version that calls them compatible", async () => {
    const { file, storage } = KeptStore.copyOf("0001-initial")
    await runInProcess(["migrate", "--storage", storage])
    const later = new DatabaseSync(file)
    later.exec("INSERT INTO tachograph_migrations (migration_id, name) VALUES (9999, 'compatible_index')")
    later.close()
    expect((await runInProcess(["migrate", "--storage", storage])).stdout).toBe("The tables are up to date\n")
    expect((await runInProcess(["sessions", "--storage", storage])).stdout).toContain("session-openai-responses")
  })

  it.each([
    ["DELETE", "migrate"],
    ["WAL", "migrate"],
    ["DELETE", "serve"],
    ["WAL", "keys create"]
  ])("leaves the file of another program in mode %s as it is: %s", async (mode, command) => {
    const file = join(temporaryFolder(), "other.db")
    const other = new DatabaseSync(file)
    other.exec(`PRAGMA journal_mode = ${mode}; CREATE TABLE notes (text TEXT)`)
    other.close()
    const former = readFileSync(file)
    const args = [...command.split(" "), "--storage", `sqlite:${file}`, ...(command === "serve" ? ["--port", "0"] : [])]
    const { code, stderr } = await runInProcess(args)
    expect(code).toBe(1)
    expect(stderr).toContain("the file has the tables of another program, and none of Tachograph")
    expect(readFileSync(file).equals(former)).toBe(true)
  })

  it.each([
    ["a folder", (path: string) => mkdirSync(path)],
    ["a FIFO", (path: string) => execFileSync("mkfifo", [path])]
  ])("says that %s is no file", async (kind, make) => {
    const path = join(temporaryFolder(), "no-file")
    make(path)
    const { code, stderr } = await runInProcess(["migrate", "--storage", `sqlite:${path}`])
    expect([code, stderr.split("\n")]).toEqual([1, [expect.stringContaining(`${path} is ${kind}. Name a file`), ""]])
  })

  it("makes nothing where the storage cannot be distributed", async () => {
    const cwd = temporaryFolder()
    const { code, stderr, stdout } = await run(["migrate", "--distribute"], { cwd })
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr).toContain("Only a Postgres with the extension Citus can be distributed")
    expect(readdirSync(cwd)).toEqual([])
  })
})
