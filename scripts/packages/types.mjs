/** Whether the types resolve in a strict project, and whether what the documentation prints fits them. */
import { globSync, mkdirSync, writeFileSync } from "node:fs"
import { join, parse } from "node:path"
import { fileURLToPath } from "node:url"
import { run } from "./run.mjs"
import { snippet, snippets } from "./snippets.mjs"

const programs = fileURLToPath(new URL("programs.md", import.meta.url))

const strict = {
  target: "ES2022",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true
}

const nodenext = { module: "nodenext" }
const bundler = { module: "esnext", moduleResolution: "bundler" }

/** Whether it uses our packages, and nothing that is not installed with them. */
const ofOurs = (program) =>
  /from "@tachograph\//.test(program) && !/from "(?!@tachograph\/|@effect\/|effect\b|node:)/.test(program)

const named = (name, programs) => programs.map((program, index) => [`${name}-${index + 1}.ts`, program])

/** Each printed program with the name of a file for it. */
const printed = (root, packages) => [
  ["Lambda.ts", snippet(programs, "Lambda")],
  ["Types.ts", snippet(programs, "Types")],
  ...named("README", snippets(join(root, "README.md"))),
  ...packages.flatMap(({ contents, name }) => named(parse(name).base, snippets(join(contents, "README.md")))),
  ...globSync("docs/*.md", { cwd: root }).flatMap((file) =>
    named(`docs-${parse(file).name}`, snippets(join(root, file)).filter(ofOurs))
  )
]

const compile = (compiler, folder, name, options, files) => {
  const configuration = join(folder, `${name}.json`)
  writeFileSync(configuration, JSON.stringify({ compilerOptions: { ...strict, ...options }, files }))
  return run(compiler, ["-p", configuration], { cwd: folder })
}

/**
 * Compiles all of them where the packages are installed: with `newest` in every way to resolve them, with `oldest` in one,
 * as it is slow. Answers how many there are.
 */
export const checkTypes = async (root, packages, home, { newest, oldest }) => {
  const folder = join(home, "programs")
  mkdirSync(folder)
  const programsOfNode = printed(root, packages)
  const all = [["Browser.ts", snippet(programs, "Browser")], ...programsOfNode]
  for (const [file, program] of all) writeFileSync(join(folder, file), program)

  const node = { types: ["node"] }
  const files = programsOfNode.map(([file]) => file)
  await Promise.all([
    compile(newest, folder, "nodenext", { ...node, ...nodenext }, files),
    compile(newest, folder, "bundler", { ...node, ...bundler }, files),
    // A browser's project has nothing of Node, types included.
    compile(newest, folder, "browser", { types: [], ...bundler }, ["Browser.ts"])
  ])
  await compile(oldest, folder, "oldest", { ...node, ...nodenext }, files)
  return all.length
}
