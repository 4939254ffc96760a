/** Checks command lines in this process: much faster than starting a process for each of them. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Runtime } from "effect"
import { format } from "node:util"
import { expect, onTestFinished, vi } from "vitest"
import { run } from "../src/Cli.ts"

/** Runs a command line as `main.ts` does, and returns what it prints and its exit code. */
export const runInProcess = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const name of Object.keys(process.env)) if (name.startsWith("TACHOGRAPH_")) vi.stubEnv(name, undefined)
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const printed = { stdout: "", stderr: "" }
  const print =
    (stream: keyof typeof printed) =>
    (...values: ReadonlyArray<unknown>) =>
      void (printed[stream] += `${format(...values)}\n`)
  const captured = Object.assign(Object.create(console) as typeof console, {
    log: print("stdout"),
    error: print("stderr")
  })
  const exit = await Effect.runPromiseExit(
    run(args).pipe(Effect.provide(NodeServices.layer), Effect.provideService(Console.Console, captured))
  )
  const code = await new Promise<number>((resolve) => Runtime.defaultTeardown(exit, resolve))
  return { code, ...printed }
}

/** Expects one line on standard error that contains `message`, nothing on standard output, and exit code 2. */
export const expectUsageError = (
  { code, stderr, stdout }: { readonly code: number | null; readonly stderr: string; readonly stdout: string },
  message: string
) => {
  expect(stderr.trimEnd().split("\n")).toHaveLength(1)
  expect(stderr).toContain(message)
  expect([code, stdout]).toEqual([2, ""])
}
