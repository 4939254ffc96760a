/** Builds the published packages and packs them as npm publishes them. */
import { globSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { run } from "./run.ts"

/** The fields of a package.json that the check reads. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly bin?: Readonly<Record<string, string>>
}

export interface PackedPackage {
  readonly name: string
  readonly version: string
  /** The .tgz file. */
  readonly tarball: string
  /** Size of the tarball. */
  readonly bytes: number
  /** The folder with the unpacked tarball. */
  readonly contents: string
}

/** The folder and the manifest of every package that is not private. */
export const published = (root: string) =>
  globSync("packages/*/package.json", { cwd: root })
    .sort()
    .map((file) => ({
      folder: join(root, dirname(file)),
      manifest: JSON.parse(readFileSync(join(root, file), "utf8")) as Manifest
    }))
    .filter(({ manifest }) => !manifest.private)

/** Builds the published packages, and packs and unpacks each into the folder `into`. */
export const pack = async (root: string, into: string): Promise<ReadonlyArray<PackedPackage>> => {
  const packages = published(root)
  // Output of source files that no longer exist would be packed too.
  for (const { folder } of packages) {
    for (const stale of ["dist", "tsconfig.tsbuildinfo"]) rmSync(join(folder, stale), { recursive: true, force: true })
  }
  await run("tsc", ["-b", ...packages.map(({ folder }) => folder)], { cwd: root })

  const filters = packages.map(({ manifest }) => `--filter=${manifest.name}`)
  await run("npx", ["--yes", "pnpm@12.21.0", "-r", ...filters, "pack", "--pack-destination", into], { cwd: root })

  return Promise.all(
    packages.map(async ({ manifest: { name, version } }) => {
      const contents = join(into, `${name.replace("@", "").replace("/", "-")}-${version}`)
      const tarball = `${contents}.tgz`
      mkdirSync(contents)
      await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", contents])
      return { name, version, tarball, bytes: statSync(tarball).size, contents }
    })
  )
}
