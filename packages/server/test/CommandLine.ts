/** Checks command lines in this process: much faster than starting a process for each of them. */
import { ApiKeyCacheTtl, type FactRules, Rules } from "@tachograph/core"
import { Console, type Duration, Effect, type Exit, Fiber, Runtime } from "effect"
import { format } from "node:util"
import { expect, onTestFinished, vi } from "vitest"
import { run } from "../src/Cli.ts"

/** The effect of a command line as `main.ts` runs it, with only these variables of Tachograph, and what it prints. */
const prepare = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
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
  const effect = run(args).pipe(Effect.provideService(Console.Console, captured))
  return { effect, printed }
}

const codeOf = <A, E>(exit: Exit.Exit<A, E>) => new Promise<number>((resolve) => Runtime.defaultTeardown(exit, resolve))

/** Runs a command line as `main.ts` does, or by other rules for facts, and returns what it prints and its exit code. */
export const runInProcess = async (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  rules?: FactRules
) => {
  const { effect, printed } = prepare(args, env)
  const exit = await Effect.runPromiseExit(rules === undefined ? effect : Effect.provideService(effect, Rules, rules))
  return { code: await codeOf(exit), ...printed }
}

/** Starts a command that goes on until `stop`, until the end of the test, or until it ends by itself. `output` is what it has printed. */
export const startInProcess = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  cacheTtl: Duration.Input = "1 minute"
) => {
  const { effect, printed } = prepare(args, env)
  const fiber = Effect.runFork(Effect.provideService(effect, ApiKeyCacheTtl, cacheTtl))
  const stop = () => Effect.runPromise(Fiber.interrupt(fiber))
  onTestFinished(stop)
  const finished = async () => ({ code: await codeOf(await Effect.runPromise(Fiber.await(fiber))), ...printed })
  return { output: () => printed, finished, stop }
}

/** Starts a server until `stop`, or until the end of the test. */
export const startServer = async (...options: Parameters<typeof startInProcess>) => {
  const [args, ...rest] = options
  const { output, stop } = startInProcess(["serve", "--port", "0", ...args], ...rest)
  const url = await vi.waitFor(() => /^Docs +(http:\/\/\S+)\/docs$/m.exec(output().stdout)![1]!, { timeout: 60_000 })
  return { url, output, stop }
}

/** Starts a server until the end of the test, whose caches of keys live for `cacheTtl`, and returns its URL. */
export const serveInProcess = async (
  args: ReadonlyArray<string>,
  cacheTtl: Duration.Input,
  env: Readonly<Record<string, string>> = {}
): Promise<string> => (await startServer(args, env, cacheTtl)).url

/** Has relative paths, such as that of the default storage, begin at a folder until the end of the test. */
export const workIn = (folder: string) => {
  const former = process.cwd()
  onTestFinished(() => process.chdir(former))
  process.chdir(folder)
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
