/** Every rule in oxlint.config.ts reports the code it forbids, and does not report the code it allows. */
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, extname, join, matchesGlob } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import config from "../../oxlint.config.ts"
import { messageOf, roomsByPackage, specifier } from "../lint/Rooms.ts"
import { cases, violations } from "./ImportCases.ts"

const root = new URL("../..", import.meta.url).pathname
const oxlint = join(dirname(createRequire(import.meta.url).resolve("oxlint/package.json")), "bin/oxlint")

interface Diagnostic {
  readonly code: string
  readonly help?: string
  readonly message: string
  readonly filename: string
  readonly labels: ReadonlyArray<{ readonly span: { readonly line: number } }>
}

/** The parts of an override that these tests read. */
interface Override {
  readonly files: ReadonlyArray<string>
  readonly rules: {
    readonly "no-restricted-imports"?: readonly [
      string,
      { readonly patterns: ReadonlyArray<{ readonly message: string }> }
    ]
  }
}

const isFile = (path: string) => extname(path) !== ""

/** The modules that each file of the linted tree imports, one in a line. */
const modulesByFile = new Map<string, Array<string>>()

const addSnippet = (file: string, module: string) => {
  const modules = modulesByFile.get(file) ?? []
  if (!modules.includes(module)) modules.push(module)
  modulesByFile.set(file, modules)
}

/** A file of a folder, or the file itself. */
const snippetFile = (path: string) => (isFile(path) ? path : `${path}/Snippets.ts`)

const importCases = cases.map((importCase) => ({ ...importCase, file: snippetFile(importCase.from) }))
for (const { file, modules } of importCases) for (const module of modules) addSnippet(file, module)

/** For each room, the imports of all rooms of its package, of a file at the top, and of a folder that is not a room. */
const roomCases = Object.entries(roomsByPackage).flatMap(([name, rooms]) =>
  rooms.map((room) => {
    const file = snippetFile(`packages/${name}/src/${room.name}`)
    const others = [...rooms.map((other) => other.name), "Unlisted.ts", "unlisted", `${room.name}/unlisted`]
    const imports = others
      .filter((other) => other !== room.name && !(isFile(room.name) && other.startsWith(`${room.name}/`)))
      .map((other) => ({
        module: specifier(room, isFile(other) ? other : `${other}/Thing.ts`),
        isAllowed: room.imports.includes(other)
      }))
    for (const { module } of imports) addSnippet(file, module)
    return { file, imports, name, room }
  })
)

const diagnosticsByFile = new Map<string, ReadonlyArray<Diagnostic>>()
const diagnosticsOf = (file: string) => diagnosticsByFile.get(file) ?? []
let tree: string | undefined

/** Lints all snippets in one run, in a temporary tree with this repository's folder names and configuration. */
beforeAll(async () => {
  tree = await mkdtemp(join(tmpdir(), "import-rules-"))
  await writeFile(join(tree, ".oxlintrc.json"), JSON.stringify(config))
  const snippets = [...modulesByFile].map(([file, modules]) => ({
    file,
    text: modules.map((module) => `export * from "${module}"\n`).join("")
  }))
  for (const { file, text } of [...snippets, ...violations]) {
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

/** What the rule of imports reports in the line that imports the module. Files of a room that import each other are a cycle here. */
const textsOf = (file: string, module: string) => {
  const line = modulesByFile.get(file)!.indexOf(module) + 1
  return diagnosticsOf(file)
    .filter(
      ({ code, labels }) => code.includes("no-restricted-imports") && labels.some(({ span }) => span.line === line)
    )
    .flatMap(({ help, message }) => [help ?? "", message])
}

const expectReport = (file: string, module: string, message: string | undefined) =>
  expect
    .soft(textsOf(file, module), `${file}: ${module}`)
    .toEqual(message === undefined ? [] : expect.arrayContaining([message]))

describe("import rules", () => {
  for (const { file, from, message, modules } of importCases) {
    it(`${from} ${message === undefined ? "may" : "must not"} import ${modules.join(", ")}`, () => {
      for (const module of modules) expectReport(file, module, message)
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

  it("have a failing case here for each message of each override", () => {
    const overrides = (config.overrides as unknown as ReadonlyArray<Override>).filter(
      ({ rules }) => rules["no-restricted-imports"] !== undefined
    )
    /** The last override that matches a file is the one that oxlint applies. */
    const applied = new Map(
      [...importCases, ...roomCases].map(({ file }) => [
        file,
        overrides.findLast(({ files }) => files.some((glob) => matchesGlob(file, glob)))
      ])
    )
    const appliesTo = (override: Override, file: string) => applied.get(file) === override
    for (const override of overrides) {
      const { files, rules } = override
      const messages = new Set(
        importCases.filter(({ file }) => appliesTo(override, file)).map(({ message }) => message)
      )
      for (const { file, room } of roomCases) if (appliesTo(override, file)) messages.add(messageOf(room))
      for (const { message } of rules["no-restricted-imports"]![1].patterns) {
        expect.soft(messages.has(message), `${files.join()}: ${message}`).toBe(true)
      }
    }
  })

  it("have an override for every published package", async () => {
    const globs = config.overrides!.flatMap(({ files }) => files)
    for (const name of await readdir(join(root, "packages"))) {
      const manifest = await readFile(join(root, "packages", name, "package.json"), "utf8").catch(() => undefined)
      if (manifest === undefined || JSON.parse(manifest).private === true) continue
      expect(globs, name).toContain(`packages/${name}/src/**`)
    }
  })
})

describe("rooms", () => {
  for (const { file, imports, name, room } of roomCases) {
    it(`${name}: ${room.name} imports ${room.imports.length === 0 ? "no other room" : `only ${room.imports.join(", ")}`}`, () => {
      for (const { isAllowed, module } of imports) expectReport(file, module, isAllowed ? undefined : messageOf(room))
    })
  }

  for (const [name, rooms] of Object.entries(roomsByPackage)) {
    it(`${name}: each room imports only rooms that precede it`, () => {
      rooms.forEach((room, index) => {
        const preceding = [...rooms.slice(0, index).map((other) => other.name), "../package.json"]
        expect.soft(preceding, room.name).toEqual(expect.arrayContaining([...room.imports]))
      })
    })

    it(`${name}: every folder of src is a room, and every room exists`, async () => {
      const paths = await readdir(join(root, "packages", name, "src"), { recursive: true })
      const modules = paths.filter((path) => path.endsWith(".ts"))
      const folders = new Set(modules.map(dirname).filter((folder) => folder !== "."))
      const names = rooms.map((room) => room.name)
      expect(names.filter((room) => !isFile(room)).toSorted()).toEqual([...folders].toSorted())
      expect(modules).toEqual(expect.arrayContaining(names.filter(isFile)))
    })
  }
})
