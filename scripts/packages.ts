/**
 * Builds and packs every published package, checks the tarballs with publint and attw, installs them with npm in a new
 * folder, and uses them there as their users do, on each supported Node. Stops at the first failure.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { command, embed, lambda } from "./packages/exercise.ts"
import { problemsOf } from "./packages/inspect.ts"
import { install, requireOneEffect } from "./packages/install.ts"
import { pack } from "./packages/pack.ts"
import { nextVersion } from "./packages/release.ts"
import { run } from "./packages/run.ts"
import { checkTypes } from "./packages/types.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
process.env["PATH"] = join(root, "node_modules/.bin") + delimiter + process.env["PATH"]

/** The oldest supported Node, and the oldest supported TypeScript. */
const oldestTools = ["node@22", "typescript@5.9"]

/** What programs in TypeScript for Node, and those of Effect, install besides. */
const beside = ["@types/node@24", "@effect/platform-node@4"]

const folder = mkdtempSync(join(tmpdir(), "packages-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1))

const secondsSince = (startedAt: number): string => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`

const startedAt = performance.now()

/** Runs one step and prints its duration, and its result if that is text. */
const step = async <A>(name: string, work: () => Promise<A>): Promise<A> => {
  const stepStartedAt = performance.now()
  try {
    const result = await work()
    const summary = typeof result === "string" ? result : ""
    console.log(`ok    ${name.padEnd(34)} ${secondsSince(stepStartedAt).padStart(7)}  ${summary}`.trimEnd())
    return result
  } catch (error) {
    console.error(`FAIL  ${name}\n${(error as Error).message.replace(/^/gm, "      ")}`)
    process.exit(1)
  }
}

const packages = await step("Build and pack", () => pack(root, folder))

const home = join(folder, "home")
const tools = join(folder, "tools")

const inspect = async () => {
  const problems: Array<string> = []
  for (const packed of packages) {
    problems.push(...(await problemsOf(packed)).map((problem) => `${packed.name}: ${problem}`))
  }
  if (problems.length > 0) throw new Error(problems.join("\n"))
}

const installAll = () =>
  Promise.all([
    install(home, [...packages.map(({ tarball }) => tarball), ...beside]),
    install(tools, oldestTools, ["node"])
  ])

// One waits for the registry while the other computes.
await Promise.all([step("Contents, publint and attw", inspect), step("Install with npm", installAll)])
await step("One copy of effect", () => requireOneEffect(home))

const compilers = { newest: join(root, "node_modules/.bin/tsc"), oldest: join(tools, "node_modules/.bin/tsc") }
await step("Types of printed programs", async () => `${await checkTypes(root, packages, home, compilers)} programs`)

for (const node of [join(tools, "node_modules/node/bin/node"), process.execPath]) {
  const version = (await run(node, ["--version"])).trim()
  await step(`${version}: embed`, () => embed(root, home, node))
  await step(`${version}: lambda`, () => lambda(home, node))
  await step(`${version}: command`, () => command(home, node, packages[0]!.version))
}

await step("Next release", () => nextVersion(root, join(folder, "release")))

console.log("")
for (const { bytes, name, version } of packages) {
  console.log(`${name.padEnd(30)} ${version}  ${`${Math.ceil(bytes / 1024)} KiB`.padStart(8)}`)
}
console.log(`\nThe packages install and work, in ${secondsSince(startedAt)}.`)
