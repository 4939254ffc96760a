/** Checks that a tarball has everything its users need and nothing else. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Manifest, PackedPackage } from "./pack.ts"
import { run } from "./run.ts"

const requiredFiles = ["LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts", "src/index.ts"]
const allowedFiles = /^(LICENSE|README\.md|CHANGELOG\.md|package\.json|dist\/.+\.(js|d\.ts)(\.map)?|src\/.+\.ts)$/
const requiredFields = ["description", "keywords", "license", "engines", "sideEffects", "exports"]

/** A registry shows the whole README: it has to stay short. */
const maxReadmeLines = 30

const fileProblems = ({ contents }: PackedPackage): ReadonlyArray<string> => {
  const files = readdirSync(contents, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(contents.length + 1))
  const maps = files.filter((file) => file.endsWith(".map"))
  return [
    ...requiredFiles.filter((file) => !files.includes(file)).map((file) => `${file} is missing.`),
    ...files
      .filter((file) => !allowedFiles.test(file) || /\.test\.|\/test\//.test(file))
      .map((file) => `${file} should not be in the package.`),
    ...maps.flatMap((map) => {
      const { sources } = JSON.parse(readFileSync(join(contents, map), "utf8")) as { sources: ReadonlyArray<string> }
      return sources
        .filter((source) => !existsSync(join(contents, dirname(map), source)))
        .map((source) => `${map} refers to ${source}, which does not exist.`)
    })
  ]
}

const binProblems = (contents: string, name: string, file: string): ReadonlyArray<string> => {
  if (!/^(\.\/)?dist\/.+\.js$/.test(file)) return [`The command ${name} is ${file}, which is not built code.`]
  if (readFileSync(join(contents, file), "utf8").startsWith("#!/usr/bin/env node\n")) return []
  return [`${file} does not begin with #!/usr/bin/env node.`]
}

const manifestProblems = ({ contents }: PackedPackage): ReadonlyArray<string> => {
  const text = readFileSync(join(contents, "package.json"), "utf8")
  const manifest = JSON.parse(text) as Manifest & Readonly<Record<string, unknown>>
  return [
    ...requiredFields.filter((field) => manifest[field] === undefined).map((field) => `package.json has no ${field}.`),
    ...(text.match(/"(workspace|catalog):[^"]*"/g) ?? []).map(
      (range) => `package.json has the version range ${range}.`
    ),
    ...Object.entries(manifest.bin ?? {}).flatMap(([name, file]) => binProblems(contents, name, file))
  ]
}

const readmeProblems = ({ contents, name }: PackedPackage): ReadonlyArray<string> => {
  const text = readFileSync(join(contents, "README.md"), "utf8")
  const lines = text.trimEnd().split("\n").length
  return [
    ...(text.startsWith(`# ${name}\n`) ? [] : [`README.md does not begin with "# ${name}".`]),
    ...(lines > maxReadmeLines ? [`README.md has ${lines} lines; the limit is ${maxReadmeLines}.`] : []),
    // A registry shows the README without the repository's other files.
    ...(text.match(/\]\((?!https?:|#)[^)]*\)/g) ?? []).map((link) => `README.md links to a local file: ${link}.`)
  ]
}

const toolProblems = (command: string, args: ReadonlyArray<string>): Promise<ReadonlyArray<string>> =>
  run(command, args, { env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" } }).then(
    () => [],
    (error: Error) => [error.message]
  )

/** The problems of a package by our own rules, publint's and attw's. */
export const problemsOf = async (packed: PackedPackage): Promise<ReadonlyArray<string>> => {
  const files = fileProblems(packed)
  // The other checks read the files that may be missing.
  if (files.length > 0) return files
  const tools = await Promise.all([
    toolProblems("publint", ["run", packed.tarball, "--strict"]),
    toolProblems("attw", [packed.tarball, "--profile", "esm-only", "--format", "ascii"])
  ])
  return [...manifestProblems(packed), ...readmeProblems(packed), ...tools.flat()]
}
