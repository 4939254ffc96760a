import { availableParallelism } from "node:os"
import { describe, expect, it } from "vitest"
import { run, serve } from "../TachographProcess.ts"
import { expectUsageError, runInProcess } from "../CommandLine.ts"

const expected = "expected a number from 1 to 64, or auto"

describe("tachograph serve --workers", () => {
  it.each([
    [["--workers", "0"], {}, `--workers is "0": ${expected}`],
    [["--workers", "1.5"], {}, `--workers is "1.5": ${expected}`],
    [["--workers", "many"], {}, `--workers is "many": ${expected}`],
    [["--workers", "65"], {}, `--workers is "65": ${expected}`],
    [[], { TACHOGRAPH_WORKERS: "-1" }, `TACHOGRAPH_WORKERS is "-1": ${expected}`],
    [["--workers", "2"], {}, "Cannot run 2 workers: SQLite allows one writer at a time"],
    [["--workers", "2", "--storage", "memory:"], {}, "Cannot run 2 workers: processes do not share memory"]
  ])("rejects %j %j with one line and exit code 2", async (args, env, message) => {
    expectUsageError(await runInProcess(["serve", "--port", "0", ...args], env), message)
  })

  it("starts one worker per core with auto, which a single-process storage rejects if there are several cores", async () => {
    const { code, stderr } = await run(["serve", "--port", "65535", "--storage", "memory:", "--workers", "auto"], {
      // On one core the invalid key keeps the server from starting.
      env: { TACHOGRAPH_API_KEY: "too short" }
    })
    const cores = Math.min(availableParallelism(), 64)
    expect(stderr).toContain(cores > 1 ? `Cannot run ${cores} workers` : "TACHOGRAPH_API_KEY is invalid")
    expect(code).toBe(2)
  })

  it("runs one process with 1, over any storage", async () => {
    const server = await serve(["--port", "0", "--storage", "memory:", "--workers", "1"])
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    expect(await server.stop()).toMatchObject({ code: 0, stderr: "" })
  })
})
