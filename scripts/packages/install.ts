/** Installs the tarballs with npm, as a user without this repository does. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { run } from "./run.ts"

/** `process.env` without npm's own variables, which would make an inner npm act on this repository. */
export const cleanEnvironment: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^npm_(config_local_prefix|lifecycle|package|command|execpath)/.test(name)
  )
)

/** Installs `specs` into a new folder. Only the packages in `allowedScripts` may run install scripts. */
export const install = async (
  folder: string,
  specs: ReadonlyArray<string>,
  allowedScripts: ReadonlyArray<string> = []
): Promise<string> => {
  mkdirSync(folder)
  const allowScripts = Object.fromEntries(allowedScripts.map((name) => [name, true]))
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ private: true, type: "module", allowScripts })}\n`)
  const args = ["install", "--no-audit", "--no-fund", "--prefix", folder, ...specs]
  await run("npm", args, { cwd: folder, env: cleanEnvironment })
  return folder
}

/** Fails unless exactly one copy of `effect` is installed: two copies do not share services. Returns its version. */
export const requireOneEffect = async (folder: string): Promise<string> => {
  const copies = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    /(^|\/)node_modules\/effect$/.test(path)
  )
  if (copies.length !== 1) {
    throw new Error(`Expected one copy of effect, found ${copies.length}: ${copies.join(", ")}`)
  }
  const listing = await run("npm", ["ls", "effect", "--all", "--parseable", "--long"], {
    cwd: folder,
    env: cleanEnvironment
  })
  const versions = new Set(listing.match(/(?<=:effect@)[^:\n]+/g))
  const [version] = versions
  if (version === undefined || versions.size > 1) {
    throw new Error(`npm ls effect lists the versions ${[...versions].join(", ")}:\n${listing}`)
  }
  return version
}
