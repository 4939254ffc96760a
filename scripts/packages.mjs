/**
 * Builds and packs every package that is published, has publint and attw judge the tarballs, installs them with npm in a
 * folder of their own, and does there what their users do, on each Node. Ends at the first failure.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { install, oneEffect } from "./packages/install.mjs"
import { judge } from "./packages/judge.mjs"
import { pack } from "./packages/pack.mjs"
import { nextVersion } from "./packages/release.mjs"
import { run } from "./packages/run.mjs"
import { checkTypes } from "./packages/types.mjs"
import { command, embed, lambda } from "./packages/use.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
process.env.PATH = join(root, "node_modules/.bin") + delimiter + process.env.PATH

/** The oldest Node that the packages promise to run on, and the oldest TypeScript whose users are thought of. */
const tools = ["node@22", "typescript@5.9"]

const folder = mkdtempSync(join(tmpdir(), "packages-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1))

const began = performance.now()
const seconds = (from) => `${((performance.now() - from) / 1000).toFixed(1)} s`

const step = async (name, work) => {
  const from = performance.now()
  try {
    const result = await work()
    const told = typeof result === "string" ? result : ""
    console.log(`ok    ${name.padEnd(34)} ${seconds(from).padStart(7)}  ${told}`.trimEnd())
    return result
  } catch (error) {
    console.error(`FAIL  ${name}\n${error.message.replace(/^/gm, "      ")}`)
    process.exit(1)
  }
}

const packages = await step("Build and pack", () => pack(root, folder))

await step("Contents, publint and attw", async () => {
  const found = []
  for (const one of packages) found.push(...(await judge(one)).map((complaint) => `${one.name}: ${complaint}`))
  if (found.length > 0) throw new Error(found.join("\n"))
})

const [home, kit] = await step("Install with npm", () =>
  Promise.all([
    install(join(folder, "home"), [...packages.map(({ tarball }) => tarball)]),
    install(join(folder, "tools"), tools, ["node"])
  ])
)
await step("One copy of effect", () => oneEffect(home))

const compilers = { newest: join(root, "node_modules/.bin/tsc"), oldest: join(kit, "node_modules/.bin/tsc") }
await step("Types of printed programs", async () => `${await checkTypes(root, packages, home, compilers)} programs`)

for (const node of [join(kit, "node_modules/node/bin/node"), process.execPath]) {
  const version = (await run(node, ["--version"])).trim()
  await step(`${version}: embed`, () => embed(root, home, node))
  await step(`${version}: lambda`, () => lambda(home, node))
  await step(`${version}: command`, () => command(home, node, packages[0].version))
}

await step("Next release", () => nextVersion(root, join(folder, "release")))

console.log("")
for (const { bytes, name, version } of packages) {
  console.log(`${name.padEnd(30)} ${version}  ${`${Math.ceil(bytes / 1024)} KiB`.padStart(8)}`)
}
console.log(`\nThe packages install and work, in ${seconds(began)}.`)
