/** The packages that are published, as they are published. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { run } from "./run.mjs"

/** The folder and the manifest of every package that is not private. */
const published = (root) =>
  readdirSync(join(root, "packages"))
    .map((name) => join(root, "packages", name))
    .flatMap((folder) => {
      try {
        return [{ folder, manifest: JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) }]
      } catch (error) {
        if (error.code === "ENOENT" || error.code === "ENOTDIR") return []
        throw error
      }
    })
    .filter(({ manifest }) => !manifest.private)

/** Builds and packs them into `into`: for each its name, its version, its tarball, its size in bytes, and what is in it. */
export const pack = async (root, into) => {
  const packages = published(root)
  // What an earlier build left of files that are gone would be packed too.
  for (const { folder } of packages) {
    for (const left of ["dist", "tsconfig.tsbuildinfo"]) rmSync(join(folder, left), { recursive: true, force: true })
  }
  await run("tsc", ["-b", ...packages.map(({ folder }) => folder)], { cwd: root })

  const filters = packages.map(({ manifest }) => `--filter=${manifest.name}`)
  await run("npx", ["--yes", "pnpm@12.21.0", "-r", ...filters, "pack", "--pack-destination", into], { cwd: root })

  return Promise.all(
    packages.map(async ({ manifest: { name, version } }) => {
      const file = join(into, `${name.replace("@", "").replace("/", "-")}-${version}`)
      mkdirSync(file)
      await run("tar", ["-xzf", `${file}.tgz`, "--strip-components=1", "-C", file])
      return { name, version, tarball: `${file}.tgz`, bytes: statSync(`${file}.tgz`).size, contents: file }
    })
  )
}
