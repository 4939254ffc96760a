/** Builds and packs every package that is published, and has publint and attw judge the tarballs. One line a package. */
import { execFile, execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const bin = join(root, "node_modules/.bin")
const env = { ...process.env, PATH: bin + delimiter + process.env.PATH, NO_COLOR: "1", FORCE_COLOR: "0" }

const packages = readdirSync(join(root, "packages"))
  .map((folder) => join(root, "packages", folder))
  .flatMap((folder) => {
    try {
      return [{ folder, manifest: JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) }]
    } catch (error) {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return []
      throw error
    }
  })
  .filter(({ manifest }) => !manifest.private)

/** What a command says, and whether it is content. */
const run = (command, args) =>
  new Promise((done) =>
    execFile(command, args, { cwd: root, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      done({ ok: error === null, said: `${stdout}${stderr}`.trim() || (error?.message ?? "") })
    )
  )

const read = (tarball, file) => execFileSync("tar", ["-xzOf", tarball, `package/${file}`], { encoding: "utf8" })

/** What publint and attw do not look at: the licence, the sources behind the maps, and a command that can be started. */
const complaints = (tarball) => {
  const files = new Set(execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).split("\n"))
  const manifest = JSON.parse(read(tarball, "package.json"))
  const found = ["LICENSE", "README.md", "src/index.ts"].filter((file) => !files.has(`package/${file}`))
  return [
    ...found.map((file) => `${file} is missing.`),
    ...Object.entries(manifest.bin ?? {}).flatMap(([name, file]) => {
      if (!/^(\.\/)?dist\/.+\.js$/.test(file)) return [`The command ${name} is ${file}, which is not built.`]
      return read(tarball, file.replace(/^\.\//, "")).startsWith("#!/usr/bin/env node\n")
        ? []
        : [`${file} does not begin with #!/usr/bin/env node.`]
    })
  ]
}

const check = async (tarball) => {
  const [publint, attw] = await Promise.all([
    run("publint", ["run", tarball, "--strict"]),
    run("attw", [tarball, "--profile", "esm-only", "--format", "ascii"])
  ])
  return [...complaints(tarball), ...[publint, attw].filter(({ ok }) => !ok).map(({ said }) => said)]
}

/** Does what has to work before there is anything to judge. */
const prepare = async (command, args) => {
  const { ok, said } = await run(command, args)
  if (ok) return
  console.error(said)
  process.exit(1)
}

// What an earlier build left of files that are gone would be packed too.
for (const { folder } of packages) {
  for (const left of ["dist", "tsconfig.tsbuildinfo"]) rmSync(join(folder, left), { recursive: true, force: true })
}
await prepare("tsc", ["-b", ...packages.map(({ folder }) => folder)])

const tarballs = mkdtempSync(join(tmpdir(), "packages-"))
process.on("exit", () => rmSync(tarballs, { recursive: true, force: true }))
const filters = packages.map(({ manifest }) => `--filter=${manifest.name}`)
await prepare("npx", ["--yes", "pnpm@12.21.0", "-r", ...filters, "pack", "--pack-destination", tarballs])

for (const { manifest } of packages) {
  const { name, version } = manifest
  const found = await check(join(tarballs, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`))
  console.log(`${found.length === 0 ? "ok  " : "FAIL"} ${name} ${version}`)
  if (found.length > 0) {
    console.log(found.join("\n").replace(/^/gm, "     "))
    process.exitCode = 1
  }
}
