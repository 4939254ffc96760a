import { readdirSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { run, temporaryFolder } from "../TachographProcess.ts"

describe("tachograph migrate", () => {
  it("prints the migrations that it ran, or that the tables are up to date", async () => {
    const cwd = temporaryFolder()
    expect(await run(["migrate"], { cwd })).toMatchObject({ code: 0, stdout: "Ran 0001_initial, 0002_recorded\n" })
    expect(await run(["migrate"], { cwd })).toMatchObject({ code: 0, stdout: "The tables are up to date\n" })
  })

  it("makes nothing where the storage cannot be distributed", async () => {
    const cwd = temporaryFolder()
    const { code, stderr, stdout } = await run(["migrate", "--distribute"], { cwd })
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr).toContain("Only a Postgres with the extension Citus can be distributed")
    expect(readdirSync(cwd)).toEqual([])
  })
})
