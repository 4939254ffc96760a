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

  it("takes --version for its own where it stands alone only", async () => {
    for (const args of [
      ["sessions", "--version", "v2"],
      ["usage", "--version=v2"]
    ]) {
      expectUsageError(await runInProcess(args), "--agent-version names the version of an agent")
    }
    expect((await runInProcess(["--version"])).stdout).toMatch(/^tachograph v\d+\.\d+\.\d+\n$/)
    // As what is searched for.
    expect((await runInProcess(["search", "--storage", "memory:", "--", "--version"])).stderr).not.toContain(
      "--agent-version names"
    )
  })

  it("exits as a process with the same output and code as in this process", async () => {
    const invalid = ["serve", "--port", "abc"]
    expect(await run(invalid, { main: source })).toMatchObject(await runInProcess(invalid))
    const help = ["keys", "--help"]
    expect(await run(help)).toMatchObject(await runInProcess(help))
    expectUsageError(await run(["storage"], { env: { TACHOGRAPH_SESSIONS: "-1" } }), "TACHOGRAPH_SESSIONS is")
  })
})
