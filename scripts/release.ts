/**
 * Makes the next release of the packages in a copy of the commit that is checked out, and says what it would publish. With `--publish`
 * it publishes that and commits it. `npm run release` runs every check before.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { problemsOf } from "./packages/inspect.ts"
import { pack } from "./packages/pack.ts"
import { changeset, raiseVersions, setRepository } from "./packages/release.ts"
import { run } from "./packages/run.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
process.env["PATH"] = join(root, "node_modules/.bin") + delimiter + process.env["PATH"]

const isPublishing = process.argv.includes("--publish")

const git = async (...args: ReadonlyArray<string>): Promise<string> => (await run("git", args, { cwd: root })).trim()

const make = async (tree: string, tarballs: string): Promise<void> => {
  await git("worktree", "add", "--detach", tree)
  const inTree = { cwd: tree }
  await run("npx", ["--yes", "pnpm@12.21.0", "install", "--frozen-lockfile", "--prefer-offline"], inTree)
  const version = await raiseVersions(tree)
  const remote = await git("remote", "get-url", "origin").catch(() => undefined)
  if (remote !== undefined) setRepository(tree, remote)
  await run("oxfmt", [], inTree)

  const packages = await pack(tree, tarballs)
  for (const packed of packages) {
    const problems = await problemsOf(packed)
    if (problems.length > 0) throw new Error(`${packed.name}:\n${problems.join("\n")}`)
  }
  for (const { bytes, name } of packages) {
    console.log(`${name.padEnd(30)} ${version}  ${`${Math.ceil(bytes / 1024)} KiB`.padStart(8)}`)
  }
  if (!isPublishing) {
    const missing = remote === undefined ? "\nBut the clone has no remote `origin`, whose URL the packages need." : ""
    return console.log(
      `\nThis would be published, each with its CHANGELOG.md, by npm run release -- --publish.${missing}`
    )
  }
  if (remote === undefined) throw new Error("Add the remote `origin` first: the packages say where their source is.")
  await run("git", ["add", "--all"], inTree)
  await run("git", ["commit", "--quiet", "--message", `Release ${version}`], inTree)
  // Asks the registry which of them it has, publishes the others, and tags the commit.
  console.log(await changeset(tree, "publish"))
  await git("merge", "--ff-only", await run("git", ["rev-parse", "HEAD"], inTree).then((commit) => commit.trim()))
  console.log(`\nPublished. Now: git push --follow-tags`)
}

const folder = mkdtempSync(join(tmpdir(), "release-"))
try {
  if ((await git("status", "--porcelain")) !== "") throw new Error("Commit first: a release is made of a commit.")
  await make(join(folder, "tree"), join(folder, "tarballs"))
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
  await git("worktree", "prune")
}
