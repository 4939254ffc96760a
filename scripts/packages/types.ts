/** Checks that the packages' types resolve in a strict project, and that the programs in the documentation compile. */
import { globSync, mkdirSync, writeFileSync } from "node:fs"
import { join, parse } from "node:path"
import { fileURLToPath } from "node:url"
import type { PackedPackage } from "./pack.ts"
import { run } from "./run.ts"
import { snippet, snippets } from "./snippets.ts"

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

type Program = readonly [file: string, text: string]

/** Whether a program imports our packages, and nothing that is not installed with them. */
const importsOnlyOurs = (program: string): boolean =>
  /from "@tachograph\//.test(program) && !/from "(?!@tachograph\/|@effect\/|effect\b|node:)/.test(program)

const numbered = (name: string, texts: ReadonlyArray<string>): ReadonlyArray<Program> =>
  texts.map((text, index) => [`${name}-${index + 1}.ts`, text] as const)

/** The programs for Node that the documentation prints, with a file name for each. */
const nodePrograms = (root: string, packages: ReadonlyArray<PackedPackage>): ReadonlyArray<Program> => [
  ["Lambda.ts", snippet(programs, "Lambda")],
  ["Types.ts", snippet(programs, "Types")],
  ...numbered("README", snippets(join(root, "README.md"))),
  ...packages.flatMap(({ contents, name }) => numbered(parse(name).base, snippets(join(contents, "README.md")))),
  ...globSync("docs/*.md", { cwd: root }).flatMap((file) =>
    numbered(`docs-${parse(file).name}`, snippets(join(root, file)).filter(importsOnlyOurs))
  )
]

const compile = (
  compiler: string,
  folder: string,
  name: string,
  options: Readonly<Record<string, unknown>>,
  files: ReadonlyArray<string>
): Promise<string> => {
  const configuration = join(folder, `${name}.json`)
  writeFileSync(configuration, JSON.stringify({ compilerOptions: { ...strict, ...options }, files }))
  return run(compiler, ["-p", configuration], { cwd: folder })
}

/**
 * Compiles the programs in `home`, where the packages are installed. The compiler `newest` runs with every module
 * resolution; `oldest`, which is slow, with one. Returns the number of programs.
 */
export const checkTypes = async (
  root: string,
  packages: ReadonlyArray<PackedPackage>,
  home: string,
  { newest, oldest }: { readonly newest: string; readonly oldest: string }
): Promise<number> => {
  const folder = join(home, "programs")
  mkdirSync(folder)
  const forNode = nodePrograms(root, packages)
  const all: ReadonlyArray<Program> = [["Browser.ts", snippet(programs, "Browser")], ...forNode]
  for (const [file, program] of all) writeFileSync(join(folder, file), program)

  const node = { types: ["node"] }
  const files = forNode.map(([file]) => file)
  await Promise.all([
    compile(newest, folder, "nodenext", { ...node, ...nodenext }, files),
    compile(newest, folder, "bundler", { ...node, ...bundler }, files),
    // A project for the browser has no types of Node.
    compile(newest, folder, "browser", { types: [], ...bundler }, ["Browser.ts"])
  ])
  await compile(oldest, folder, "oldest", { ...node, ...nodenext }, files)
  return all.length
}
