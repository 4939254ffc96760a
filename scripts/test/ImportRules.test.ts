/** Every rule that .oxlintrc.json adds fails on what it forbids and is silent on what it allows. */
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { cases, offences } from "./ImportCases.ts"

const root = new URL("../..", import.meta.url).pathname
const oxlint = join(dirname(createRequire(import.meta.url).resolve("oxlint/package.json")), "bin/oxlint")

interface Diagnostic {
  readonly code: string
  readonly help?: string
  readonly message: string
  readonly filename: string
}

interface Override {
  readonly files: ReadonlyArray<string>
  readonly rules: {
    readonly "no-restricted-imports"?: readonly [
      string,
      { readonly patterns: ReadonlyArray<{ readonly message: string }> }
    ]
  }
}

const snippets = cases.flatMap(({ folder, modules, message }) =>
  modules.map((module) => ({ folder, module, message, file: "" }))
)
snippets.forEach((snippet, index) => (snippet.file = `${snippet.folder}/snippet${index}.ts`))

const said = new Map<string, ReadonlyArray<Diagnostic>>()
let tree: string | undefined

/** Lints all snippets in one go, in a tree of their own that has the folders of this one and its configuration. */
beforeAll(async () => {
  tree = await mkdtemp(join(tmpdir(), "import-rules-"))
  await cp(join(root, ".oxlintrc.json"), join(tree, ".oxlintrc.json"))
  const files = [...snippets.map(({ file, module }) => ({ file, text: `export * from "${module}"\n` })), ...offences]
  for (const { file, text } of files) {
    await mkdir(dirname(join(tree, file)), { recursive: true })
    await writeFile(join(tree, file), text)
  }
  const run = promisify(execFile)(process.execPath, [oxlint, "-f", "json", "."], { cwd: tree, maxBuffer: 2 ** 26 })
  // Findings are its failure; what it says stands in its output either way.
  const { stdout } = await run.catch((failure: { readonly stdout: string }) => failure)
  for (const diagnostic of (JSON.parse(stdout) as { readonly diagnostics: ReadonlyArray<Diagnostic> }).diagnostics) {
    said.set(diagnostic.filename, [...(said.get(diagnostic.filename) ?? []), diagnostic])
  }
})

afterAll(async () => {
  if (tree !== undefined) await rm(tree, { recursive: true })
})

const textsOf = (file: string) => (said.get(file) ?? []).flatMap(({ help, message }) => [help ?? "", message])

describe("import rules", () => {
  for (const { file, folder, message, module } of snippets) {
    it(`${folder} ${message === undefined ? "may" : "must not"} import ${module}`, () => {
      expect(textsOf(file)).toEqual(message === undefined ? [] : expect.arrayContaining([message]))
    })
  }

  for (const { file, rule } of offences) {
    it(`${file} ${rule === undefined ? "is good" : `offends against ${rule}`}`, () => {
      const codes = (said.get(file) ?? []).map(({ code }) => code)
      expect(codes).toEqual(
        rule === undefined ? [] : expect.arrayContaining([expect.stringMatching(new RegExp(`\\(${rule}\\)`))])
      )
    })
  }

  it("are each seen failing here", async () => {
    const { overrides } = JSON.parse(await readFile(join(root, ".oxlintrc.json"), "utf8")) as {
      readonly overrides: ReadonlyArray<Override>
    }
    for (const { files, rules } of overrides) {
      for (const { message } of rules["no-restricted-imports"]?.[1].patterns ?? []) {
        for (const glob of files) {
          const folder = glob.replace("/**", "").replace("*", "another")
          const seen = snippets.some((snippet) => snippet.folder.startsWith(folder) && snippet.message === message)
          expect(seen, `${glob}: ${message}`).toBe(true)
        }
      }
    }
  })

  it("name every package that is published", async () => {
    const config = await readFile(join(root, ".oxlintrc.json"), "utf8")
    for (const name of await readdir(join(root, "packages"))) {
      const manifest = await readFile(join(root, "packages", name, "package.json"), "utf8").catch(() => undefined)
      if (manifest === undefined || JSON.parse(manifest).private === true) continue
      expect(config.includes(`"packages/${name}/src/**"`), name).toBe(true)
    }
  })
})
