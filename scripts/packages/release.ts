/** Computes the next release in a copy of the files that determine it. */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Manifest } from "./pack.ts"
import { run } from "./run.ts"

const sources = ["package.json", "pnpm-*.yaml", ".changeset/*", "{packages,examples}/*/package.json"]

/** Runs `changeset version` in a new folder. Returns the version of the published packages, which all have the same. */
export const nextVersion = async (root: string, folder: string): Promise<string> => {
  for (const file of globSync(sources, { cwd: root })) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  const hasChangesets = globSync(".changeset/*.md", { cwd: folder }).some((file) => !file.endsWith("README.md"))
  await run("changeset", ["version"], { cwd: folder })

  const packages = globSync("packages/*/package.json", { cwd: folder })
    .map((file) => ({
      manifest: JSON.parse(readFileSync(join(folder, file), "utf8")) as Manifest,
      home: join(folder, dirname(file))
    }))
    .filter(({ manifest }) => !manifest.private)
  const versions = new Set(packages.map(({ manifest }) => manifest.version))
  const [version] = versions
  if (version === undefined || versions.size > 1) {
    throw new Error(`All packages must have the same version, but the versions are: ${[...versions].join(", ")}`)
  }
  for (const { home, manifest } of hasChangesets ? packages : []) {
    const log = join(home, "CHANGELOG.md")
    if (!existsSync(log) || !readFileSync(log, "utf8").includes(`\n## ${version}\n`)) {
      throw new Error(`The CHANGELOG.md of ${manifest.name} has no section for ${version}.`)
    }
  }
  return version
}
