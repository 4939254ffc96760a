/** Every import rule of .oxlintrc.json fails on what it forbids and is silent on what it allows. */
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const root = new URL("../..", import.meta.url).pathname
const oxlint = join(dirname(createRequire(import.meta.url).resolve("oxlint/package.json")), "bin/oxlint")

/** Modules, imported into files of a folder, and the message that has to come, or none. */
interface Case {
  readonly folder: string
  readonly modules: ReadonlyArray<string>
  readonly message?: string
}

const forbids = (folder: string, message: string, ...modules: ReadonlyArray<string>): Case => ({
  folder,
  modules,
  message
})
const allows = (folder: string, ...modules: ReadonlyArray<string>): Case => ({ folder, modules })

const byName = "Import another package by its name."
const oneByOne = "Import its modules one by one."
const noBarrel = "Import the module itself, not the barrel."

const libraries = [
  "core",
  "api",
  "router",
  "storage-sql",
  "storage-sqlite",
  "storage-postgres",
  "server",
  "lambda",
  "testkit"
]

const forEveryPackage = [...libraries, "another"].flatMap((name): ReadonlyArray<Case> => {
  const src = `packages/${name}/src`
  return [
    forbids(src, byName, "../../other/src/Thing.ts", "../../other/dist/Thing.js", "../../other/package.json"),
    forbids(src, byName, "../node_modules/effect/dist/index.js"),
    forbids(`${src}/inner`, byName, "../../../other/src/Thing.ts"),
    forbids(`packages/${name}/test`, byName, "../../other/src/Thing.ts", "../../other/test/Thing.ts"),
    forbids(src, noBarrel, "./index.ts", "./index.js", "./inner/index.ts", ".", "./"),
    forbids(`${src}/inner`, noBarrel, "../index.ts", ".."),
    allows(src, "./Thing.ts", "./inner/Thing.ts", "../package.json", "effect"),
    allows(`packages/${name}/test`, "../src/index.ts", "../src/inner/Thing.ts", "./Thing.ts", "@tachograph/testkit")
  ]
})

const cases: ReadonlyArray<Case> = [
  ...forEveryPackage,
  ...["packages/router/src", "packages/server/src", "packages/lambda/src", "packages/testkit/src"].flatMap((folder) => [
    forbids(folder, oneByOne, "@effect/platform-node"),
    allows(folder, "@effect/platform-node/NodeHttpServer")
  ]),
  forbids("packages/another/src", oneByOne, "@effect/platform-node"),
  forbids("packages/server/test", oneByOne, "@effect/platform-node"),
  forbids("examples/one/src", oneByOne, "@effect/platform-node"),
  forbids("examples/one/src", byName, "../../../packages/core/src/Thing.ts", "../../other/src/Thing.ts"),
  forbids("scripts", byName, "../packages/core/src/Thing.ts"),
  allows("examples/one/src", "@tachograph/router", "@tachograph/storage-sqlite", "./Thing.ts"),

  forbids("packages/core/src", "core imports no other package.", "@tachograph/core", "@tachograph/api"),
  forbids(
    "packages/core/src",
    "core knows neither HTTP nor SQL nor a platform.",
    ...["effect/http", "effect/http/HttpRouter", "effect/http-api", "effect/http-api/HttpApi"],
    ...["effect/sql", "effect/sql/SqlClient", "@effect/platform-node/NodeHttpServer"]
  ),
  forbids("packages/core/src", "Of Node, core imports crypto and zlib only.", "node:http", "node:fs/promises"),
  allows("packages/core/src", "node:crypto", "node:zlib", "effect/Schema", "./domain/Thing.ts"),

  forbids("packages/core/src/domain", byName, "../../../other/src/Thing.ts"),
  forbids("packages/core/src/domain", noBarrel, "./index.ts", "../index.ts"),
  forbids("packages/core/src/domain", "core imports no other package.", "@tachograph/api"),
  forbids("packages/core/src/domain", "core knows neither HTTP nor SQL nor a platform.", "effect/http", "effect/sql"),
  forbids("packages/core/src/domain", "The api package takes the domain into a browser.", "node:crypto", "node:zlib"),
  forbids(
    "packages/core/src/domain",
    "The domain imports the domain only, or the api package could not take it into a browser.",
    ...["../Thing.ts", "../payload/Thing.ts"]
  ),
  allows("packages/core/src/payload", "../domain/Thing.ts", "node:zlib"),

  forbids(
    "packages/api/src",
    "Of the other packages, api imports core's domain only.",
    ...["@tachograph/core", "@tachograph/api", "@tachograph/router", "@tachograph/storage-sql", "@tachograph/testkit"]
  ),
  forbids("packages/api/src", "This has to run in a browser.", "node:crypto", "node:fs/promises"),
  forbids(
    "packages/api/src/groups",
    "The contract has no handlers, no storage and no platform.",
    ...["effect/sql", "effect/sql/SqlClient", "effect/http-api/HttpApiBuilder", "@effect/platform-node/NodeHttpServer"]
  ),
  allows("packages/api/src/groups", "@tachograph/core/domain/Agent", "effect/http", "../Thing.ts"),

  forbids(
    "packages/router/src",
    "router imports api and core, and never names a storage.",
    ...["@tachograph/storage-sql", "@tachograph/storage-sqlite", "@tachograph/server", "@tachograph/router"]
  ),
  forbids(
    "packages/router/src",
    "router never names a storage.",
    ...["effect/sql", "effect/sql/SqlClient", "@effect/sql-pg", "@effect/sql-pg/PgClient", "node:sqlite"]
  ),
  allows("packages/router/src", "@tachograph/api", "@tachograph/core", "@tachograph/core/domain/Agent", "node:http"),

  forbids(
    "packages/storage-sql/src",
    "storage-sql imports core only.",
    "@tachograph/storage-sqlite",
    "@tachograph/api"
  ),
  forbids(
    "packages/storage-sql/src",
    "storage-sql knows no transport, no platform and no driver.",
    ...["effect/http", "effect/http-api", "@effect/sql-pg", "@effect/platform-node/NodeHttpServer", "node:sqlite"]
  ),
  allows("packages/storage-sql/src", "@tachograph/core", "@tachograph/core/domain/Agent", "effect/sql"),

  ...["packages/storage-sqlite/src", "packages/storage-postgres/src"].flatMap((folder) => [
    forbids(
      folder,
      "A database's package imports storage-sql and core only.",
      ...["@tachograph/api", "@tachograph/router", "@tachograph/storage-sqlite"]
    ),
    forbids(
      folder,
      "A storage knows no transport.",
      ...["effect/http", "effect/http-api", "@effect/platform-node", "@effect/platform-node/NodeHttpServer"]
    ),
    allows(folder, "@tachograph/core", "@tachograph/storage-sql", "effect/sql", "node:sqlite", "@effect/sql-pg")
  ]),

  forbids(
    "packages/server/src",
    "server imports router, storages, and what they stand on.",
    ...["@tachograph/testkit", "@tachograph/lambda", "@tachograph/server"]
  ),
  allows("packages/server/src", "@tachograph/router", "@tachograph/storage-sqlite", "@tachograph/core", "node:http"),

  forbids(
    "packages/lambda/src",
    "lambda imports router, and what it stands on; it never names a storage.",
    ...["@tachograph/storage-sql", "@tachograph/storage-postgres", "@tachograph/server"]
  ),
  forbids("packages/lambda/src", "lambda never names a storage.", "effect/sql", "@effect/sql-pg", "node:sqlite"),
  allows("packages/lambda/src", "@tachograph/router", "@tachograph/api", "@tachograph/core", "hono/aws-lambda"),

  forbids(
    "packages/testkit/src",
    "testkit imports api and core only.",
    ...["@tachograph/router", "@tachograph/storage-sql", "@tachograph/testkit"]
  ),
  allows("packages/testkit/src", "@tachograph/api", "@tachograph/core", "vitest", "fast-check")
]

/** Offences that are not a matter of one module's name, each whole, with the rule that sees it. */
const offences: ReadonlyArray<{ readonly file: string; readonly text: string; readonly rule?: string }> = [
  {
    file: "packages/api/src/handler.ts",
    text: `import { HttpApiBuilder } from "effect/http-api"\nexport const x = HttpApiBuilder\n`,
    rule: "no-restricted-imports"
  },
  {
    file: "packages/api/src/endpoint.ts",
    text: `import { HttpApiEndpoint } from "effect/http-api"\nexport const x = HttpApiEndpoint\n`
  },
  {
    file: "packages/core/src/reexport.ts",
    text: `export { readFile } from "node:fs/promises"\n`,
    rule: "no-restricted-imports"
  },
  {
    file: "packages/core/src/onlyTypes.ts",
    text: `import type { Server } from "node:http"\nexport type X = Server\n`,
    rule: "no-restricted-imports"
  },
  {
    file: "packages/core/src/dynamic.ts",
    text: `export const x = import("node:http")\n`,
    rule: "no-restricted-imports"
  },
  {
    file: "packages/core/src/typeOfImport.ts",
    text: `export type X = import("node:http").Server\n`,
    rule: "consistent-type-imports"
  },
  {
    file: "packages/core/src/required.ts",
    text: `export const x = require("node:http")\n`,
    rule: "no-require-imports"
  },
  {
    file: "packages/core/src/unprefixed.ts",
    text: `import { readFile } from "fs"\nexport const x = readFile\n`,
    rule: "prefer-node-protocol"
  },
  { file: "packages/another/src/cycleA.ts", text: `export * from "./cycleB.ts"\n`, rule: "no-cycle" },
  { file: "packages/another/src/cycleB.ts", text: `export * from "./cycleA.ts"\n`, rule: "no-cycle" },
  {
    file: "packages/another/src/typesA.ts",
    text: `import type { B } from "./typesB.ts"\nexport type A = ReadonlyArray<B>\n`,
    rule: "no-cycle"
  },
  {
    file: "packages/another/src/typesB.ts",
    text: `import type { A } from "./typesA.ts"\nexport interface B {\n  readonly a: A\n}\n`,
    rule: "no-cycle"
  },
  { file: "packages/another/src/itself.ts", text: `export * from "./itself.ts"\n`, rule: "no-self-import" },
  { file: "packages/another/src/unused.ts", text: `const unused = 1\nexport {}\n`, rule: "no-unused-vars" },
  { file: "packages/another/src/good.ts", text: `import { Effect } from "effect"\nexport const x = Effect.void\n` }
]

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
