/** The next release: its versions, its changelogs, and where its source is. */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type Manifest, published } from "./pack.ts"
import { run } from "./run.ts"

const sources = ["package.json", "pnpm-*.yaml", ".changeset/*", "{packages,examples}/*/package.json"]

/** Runs `changeset` in a tree. It calls pnpm. */
export const changeset = (root: string, command: "publish" | "version"): Promise<string> =>
  run("npx", ["--yes", "--package=pnpm@12.21.0", "changeset", command], { cwd: root })

/** Raises the versions in a tree. Returns the version of the published packages, which all have the same. */
export const raiseVersions = async (root: string): Promise<string> => {
  const hasChangesets = globSync(".changeset/*.md", { cwd: root }).some((file) => !file.endsWith("README.md"))
  await changeset(root, "version")

  const packages = published(root)
  const versions = new Set(packages.map(({ manifest }) => manifest.version))
  const [version] = versions
  if (version === undefined || versions.size > 1) {
    throw new Error(`All packages must have the same version, but the versions are: ${[...versions].join(", ")}`)
  }
  for (const { folder, manifest } of hasChangesets ? packages : []) {
    const log = join(folder, "CHANGELOG.md")
    if (!existsSync(log) || !readFileSync(log, "utf8").includes(`\n## ${version}\n`)) {
      throw new Error(`The CHANGELOG.md of ${manifest.name} has no section for ${version}.`)
    }
  }
  return version
}

/** Computes the next version in a new folder, from the files that determine it. */
export const nextVersion = (root: string, folder: string): Promise<string> => {
  for (const file of globSync(sources, { cwd: root })) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  return raiseVersions(folder)
}

/**
 * The field `repository` for a remote of git, as npm wants it: a way of SSH is one of HTTPS there. Everybody can read it, so it has no
 * user and no token.
 */
export const repositoryOf = (remote: string): string =>
  `git+${remote
    .replace(/^(?:ssh:\/\/)?git@([^:/]+)[:/]/, "https://$1/")
    .replace(/^(https?:\/\/)[^/]*@/, "$1")
    .replace(/(?:\.git)?\/?$/, ".git")}`

/** Writes into the published packages where their source is. It is not in the tree, which may be cloned from anywhere. */
export const setRepository = (root: string, remote: string): void => {
  for (const { folder, manifest } of published(root)) {
    const repository = { type: "git", url: repositoryOf(remote), directory: folder.slice(root.length + 1) }
    const { name, version, description, ...others } = manifest as Manifest & { readonly description?: string }
    const written = { name, version, description, repository, ...others }
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(written, null, 2)}\n`)
  }
}
