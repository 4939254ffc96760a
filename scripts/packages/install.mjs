/** A folder of somebody who has nothing but npm and the tarballs. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { run } from "./run.mjs"

/** What npm sets for the scripts that it runs would tell an npm below it that it is at work in this repository. */
export const outside = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^npm_(config_local_prefix|lifecycle|package|command|execpath)/.test(name)
  )
)

/** Installs what `specs` say with npm, into a new folder; of them, those in `scripted` may run scripts of their own. */
export const install = async (folder, specs, scripted = []) => {
  mkdirSync(folder)
  const allowScripts = Object.fromEntries(scripted.map((name) => [name, true]))
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ private: true, type: "module", allowScripts })}\n`)
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefix", folder, ...specs], { cwd: folder, env: outside })
  return folder
}

/** The folders of every package called `effect` below `folder`. */
const copies = (folder) =>
  readdirSync(folder, { recursive: true }).filter((path) => /(^|\/)node_modules\/effect$/.test(path))

/** Two copies of `effect` would not know each other's services. Answers its version. */
export const oneEffect = async (folder) => {
  const found = copies(folder)
  if (found.length !== 1) throw new Error(`There is not one copy of effect, but ${found.length}: ${found.join(", ")}`)
  const listed = await run("npm", ["ls", "effect", "--all", "--parseable", "--long"], { cwd: folder, env: outside })
  const versions = new Set(listed.match(/(?<=:effect@)[^:\n]+/g))
  if (versions.size !== 1) throw new Error(`npm ls effect tells of versions ${[...versions].join(", ")}:\n${listed}`)
  return [...versions][0]
}
