/** What the next release would be, in a copy of what decides it. */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { run } from "./run.mjs"

const decisive = ["package.json", "pnpm-*.yaml", ".changeset/*", "{packages,examples}/*/package.json"]

/** Runs `changeset version` in a new folder; answers the one version that every published package then has. */
export const nextVersion = async (root, folder) => {
  for (const file of globSync(decisive, { cwd: root })) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  const described = globSync(".changeset/*.md", { cwd: folder }).some((file) => !file.endsWith("README.md"))
  await run("changeset", ["version"], { cwd: folder })

  const packages = globSync("packages/*/package.json", { cwd: folder })
    .map((file) => ({ ...JSON.parse(readFileSync(join(folder, file), "utf8")), home: join(folder, dirname(file)) }))
    .filter((manifest) => !manifest.private)
  const versions = new Set(packages.map(({ version }) => version))
  if (versions.size !== 1) throw new Error(`All packages are released as one, but: ${[...versions].join(", ")}`)
  const [version] = versions
  for (const { home, name } of described ? packages : []) {
    const log = join(home, "CHANGELOG.md")
    if (!existsSync(log) || !readFileSync(log, "utf8").includes(`\n## ${version}\n`)) {
      throw new Error(`The CHANGELOG.md of ${name} would not tell of ${version}.`)
    }
  }
  return version
}
