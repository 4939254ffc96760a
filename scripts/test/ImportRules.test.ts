/** Every rule in .oxlintrc.json reports the code it forbids, and does not report the code it allows. */
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { cases, violations } from "./ImportCases.ts"

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

const diagnosticsByFile = new Map<string, ReadonlyArray<Diagnostic>>()
const diagnosticsOf = (file: string) => diagnosticsByFile.get(file) ?? []
let tree: string | undefined

/** Lints all snippets in one run, in a temporary tree with this repository's folder names and configuration. */
beforeAll(async () => {
  tree = await mkdtemp(join(tmpdir(), "import-rules-"))
  await cp(join(root, ".oxlintrc.json"), join(tree, ".oxlintrc.json"))
  const files = [...snippets.map(({ file, module }) => ({ file, text: `export * from "${module}"\n` })), ...violations]
  for (const { file, text } of files) {
    await mkdir(dirname(join(tree, file)), { recursive: true })
    await writeFile(join(tree, file), text)
  }
  const run = promisify(execFile)(process.execPath, [oxlint, "-f", "json", "."], { cwd: tree, maxBuffer: 2 ** 26 })
  // oxlint exits with an error when it reports anything; its output is complete either way.
  const { stdout } = await run.catch((failure: { readonly stdout: string }) => failure)
  for (const diagnostic of (JSON.parse(stdout) as { readonly diagnostics: ReadonlyArray<Diagnostic> }).diagnostics) {
    diagnosticsByFile.set(diagnostic.filename, [...diagnosticsOf(diagnostic.filename), diagnostic])
  }
})

afterAll(async () => {
  if (tree !== undefined) await rm(tree, { recursive: true })
})

const textsOf = (file: string) => diagnosticsOf(file).flatMap(({ help, message }) => [help ?? "", message])

describe("import rules", () => {
  for (const { file, folder, message, module } of snippets) {
    it(`${folder} ${message === undefined ? "may" : "must not"} import ${module}`, () => {
      expect(textsOf(file)).toEqual(message === undefined ? [] : expect.arrayContaining([message]))
    })
  }

  for (const { file, rule } of violations) {
    it(`${file} ${rule === undefined ? "is allowed" : `violates ${rule}`}`, () => {
      const codes = diagnosticsOf(file).map(({ code }) => code)
      expect(codes).toEqual(
        rule === undefined ? [] : expect.arrayContaining([expect.stringMatching(new RegExp(`\\(${rule}\\)`))])
      )
    })
  }

  it("have a failing case here for each message", async () => {
    const { overrides } = JSON.parse(await readFile(join(root, ".oxlintrc.json"), "utf8")) as {
      readonly overrides: ReadonlyArray<Override>
    }
    for (const { files, rules } of overrides) {
      for (const { message } of rules["no-restricted-imports"]?.[1].patterns ?? []) {
        for (const glob of files) {
          const folder = glob.replace("/**", "").replace("*", "another")
          const isTested = snippets.some((snippet) => snippet.folder.startsWith(folder) && snippet.message === message)
          expect(isTested, `${glob}: ${message}`).toBe(true)
        }
      }
    }
  })

  it("have an override for every published package", async () => {
    const config = await readFile(join(root, ".oxlintrc.json"), "utf8")
    for (const name of await readdir(join(root, "packages"))) {
      const manifest = await readFile(join(root, "packages", name, "package.json"), "utf8").catch(() => undefined)
      if (manifest === undefined || JSON.parse(manifest).private === true) continue
      expect(config.includes(`"packages/${name}/src/**"`), name).toBe(true)
    }
  })
})
