import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it } from "vitest"
import { runInProcess } from "../CommandLine.ts"
import { run, temporaryFolder } from "../TachographProcess.ts"

describe("tachograph migrate", () => {
  it("prints the migrations that it ran, or that the tables are up to date", async () => {
    const cwd = temporaryFolder()
    expect(await run(["migrate"], { cwd })).toMatchObject({
      code: 0,
      stdout: "Ran 0001_initial, 0002_recorded, 0003_audit_log\n"
    })
    expect(await run(["migrate"], { cwd })).toMatchObject({ code: 0, stdout: "The tables are up to date\n" })
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
