import { describe, expect, it } from "vitest"
import { expectUsageError, runInProcess } from "./CommandLine.ts"
import { run, source } from "./TachographProcess.ts"

describe("tachograph", () => {
  const helpLines = [[], ["--help"], ["serve", "--help"], ["keys"], ["keys", "create", "--help"]]

  it.each(helpLines.map((args) => [args]))("prints help for %j", async (args) => {
    const { code, stderr, stdout } = await runInProcess(args)
    expect(stdout).toContain("USAGE")
    expect([code, stderr]).toEqual([0, ""])
  })

  it("exits as a process with the same output and code as in this process", async () => {
    const invalid = ["serve", "--port", "abc"]
    expect(await run(invalid, { main: source })).toMatchObject(await runInProcess(invalid))
    const help = ["keys", "--help"]
    expect(await run(help)).toMatchObject(await runInProcess(help))
    expectUsageError(await run(["storage"], { env: { TACHOGRAPH_SESSIONS: "-1" } }), "TACHOGRAPH_SESSIONS is")
  })
})
