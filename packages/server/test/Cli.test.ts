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
    for (const args of [
      ["keys", "--help"],
      ["serve", "--port", "abc"]
    ]) {
      const { code, stderr, stdout } = await run(args, { main: source })
      expect({ code, stderr, stdout }).toEqual(await runInProcess(args))
    }
    expectUsageError(await run(["storage"], { env: { TACHOGRAPH_SESSIONS: "-1" } }), "TACHOGRAPH_SESSIONS is")
  })
})
