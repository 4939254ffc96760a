import { describe, expect, it } from "vitest"
import { run, temporaryFolder } from "../TachographProcess.ts"

describe("tachograph migrate", () => {
  it("prints the migrations that it ran, or that the tables are up to date", async () => {
    const cwd = temporaryFolder()
    expect(await run(["migrate"], { cwd })).toMatchObject({ code: 0, stdout: "Ran 0001_initial\n" })
    expect(await run(["migrate"], { cwd })).toMatchObject({ code: 0, stdout: "The tables are up to date\n" })
  })
})
