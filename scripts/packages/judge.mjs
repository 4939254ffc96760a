/** Whether a tarball is what its users need, no less and no more. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { run } from "./run.mjs"

const required = ["LICENSE", "README.md", "package.json", "dist/index.js", "dist/index.d.ts", "src/index.ts"]
const welcome = /^(LICENSE|README\.md|CHANGELOG\.md|package\.json|dist\/.+\.(js|d\.ts)(\.map)?|src\/.+\.ts)$/
const told = ["description", "keywords", "license", "engines", "sideEffects", "exports"]

/** Lines of a README, so that it can be read where a registry shows it. */
const readmeLines = 30

const ofFiles = ({ contents }) => {
  const files = readdirSync(contents, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(contents.length + 1))
  const maps = files.filter((file) => file.endsWith(".map"))
  return [
    ...required.filter((file) => !files.includes(file)).map((file) => `${file} is missing.`),
    ...files
      .filter((file) => !welcome.test(file) || /\.test\.|\/test\//.test(file))
      .map((file) => `Why is ${file} there?`),
    ...maps.flatMap((map) => {
      const { sources } = JSON.parse(readFileSync(join(contents, map), "utf8"))
      return sources
        .filter((source) => !existsSync(join(contents, dirname(map), source)))
        .map((source) => `${map} leads to ${source}, which is not there.`)
    })
  ]
}

const ofManifest = ({ contents }) => {
  const text = readFileSync(join(contents, "package.json"), "utf8")
  const manifest = JSON.parse(text)
  return [
    ...told.filter((field) => manifest[field] === undefined).map((field) => `package.json has no ${field}.`),
    ...(text.match(/"(workspace|catalog):[^"]*"/g) ?? []).map((range) => `package.json asks for ${range}.`),
    ...Object.entries(manifest.bin ?? {}).flatMap(([name, file]) => {
      if (!/^(\.\/)?dist\/.+\.js$/.test(file)) return [`The command ${name} is ${file}, which is not built.`]
      return readFileSync(join(contents, file), "utf8").startsWith("#!/usr/bin/env node\n")
        ? []
        : [`${file} does not begin with #!/usr/bin/env node.`]
    })
  ]
}

const ofReadme = ({ contents, name }) => {
  const text = readFileSync(join(contents, "README.md"), "utf8")
  const lines = text.trimEnd().split("\n").length
  return [
    ...(text.startsWith(`# ${name}\n`) ? [] : [`README.md does not begin with "# ${name}".`]),
    ...(lines > readmeLines ? [`README.md has ${lines} lines, of ${readmeLines} at most.`] : []),
    // A registry shows it apart from the repository.
    ...(text.match(/\]\((?!https?:|#)[^)]*\)/g) ?? []).map((link) => `README.md links to a file beside it: ${link}.`)
  ]
}

const ofTool = (command, args) =>
  run(command, args, { env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" } }).then(
    () => [],
    (error) => [error.message]
  )

/** What is wrong with it, by our own rules, publint's and attw's. */
export const judge = async (built) => {
  const files = ofFiles(built)
  // The rest would stumble over what is missing.
  if (files.length > 0) return files
  const tools = await Promise.all([
    ofTool("publint", ["run", built.tarball, "--strict"]),
    ofTool("attw", [built.tarball, "--profile", "esm-only", "--format", "ascii"])
  ])
  return [...ofManifest(built), ...ofReadme(built), ...tools.flat()]
}
