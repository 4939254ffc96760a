/** What the import rules in .oxlintrc.json forbid and allow, by package. */

/** Modules imported by files of a folder, and the message that the rule reports, if any. */
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
const individually = "Import its modules individually."
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

export const cases: ReadonlyArray<Case> = [
  ...forEveryPackage,
  ...["packages/router/src", "packages/server/src", "packages/lambda/src", "packages/testkit/src"].flatMap((folder) => [
    forbids(folder, individually, "@effect/platform-node"),
    allows(folder, "@effect/platform-node/NodeHttpServer")
  ]),
  forbids("packages/another/src", individually, "@effect/platform-node"),
  forbids("packages/server/test", individually, "@effect/platform-node"),
  forbids("examples/one/src", individually, "@effect/platform-node"),
  forbids("examples/one/src", byName, "../../../packages/core/src/Thing.ts", "../../other/src/Thing.ts"),
  forbids("scripts", byName, "../packages/core/src/Thing.ts"),
  allows("examples/one/src", "@tachograph/router", "@tachograph/storage-sqlite", "./Thing.ts"),

  forbids("packages/core/src", "core imports no other package.", "@tachograph/core", "@tachograph/api"),
  forbids(
    "packages/core/src",
    "core does not depend on HTTP, SQL or a platform.",
    ...["effect/http", "effect/http/HttpRouter", "effect/http-api", "effect/http-api/HttpApi"],
    ...["effect/sql", "effect/sql/SqlClient", "@effect/platform-node/NodeHttpServer"]
  ),
  forbids("packages/core/src", "core imports only node:crypto and node:zlib of Node.", "node:http", "node:fs/promises"),
  allows("packages/core/src", "node:crypto", "node:zlib", "effect/Schema", "./domain/Thing.ts"),

  forbids("packages/core/src/domain", byName, "../../../other/src/Thing.ts"),
  forbids("packages/core/src/domain", noBarrel, "./index.ts", "../index.ts"),
  forbids("packages/core/src/domain", "core imports no other package.", "@tachograph/api"),
  forbids(
    "packages/core/src/domain",
    "core does not depend on HTTP, SQL or a platform.",
    ...["effect/http", "effect/http/HttpRouter", "effect/sql", "effect/sql/SqlClient", "@effect/sql-pg"]
  ),
  forbids(
    "packages/core/src/domain",
    "The domain runs in a browser as part of the api package.",
    "node:zlib",
    "node:fs/promises"
  ),
  forbids(
    "packages/core/src/domain",
    "The domain imports only the domain: it runs in a browser as part of the api package.",
    ...["../Thing.ts", "../payload/Thing.ts"]
  ),
  allows("packages/core/src/payload", "../domain/Thing.ts", "node:zlib"),

  forbids(
    "packages/api/src",
    "api imports only core's domain of the other packages.",
    ...["@tachograph/core", "@tachograph/api", "@tachograph/router", "@tachograph/storage-sql", "@tachograph/testkit"]
  ),
  forbids("packages/api/src", "api runs in a browser.", "node:crypto", "node:fs/promises"),
  forbids(
    "packages/api/src/groups",
    "The contract has no handlers, no storage and no platform.",
    ...["effect/sql", "effect/sql/SqlClient", "effect/http-api/HttpApiBuilder", "@effect/platform-node/NodeHttpServer"]
  ),
  allows("packages/api/src/groups", "@tachograph/core/domain/Agent", "effect/http", "../Thing.ts"),

  forbids(
    "packages/router/src",
    "router imports only api and core, and no storage.",
    ...["@tachograph/storage-sql", "@tachograph/storage-sqlite", "@tachograph/server", "@tachograph/router"]
  ),
  forbids(
    "packages/router/src",
    "router imports no storage.",
    ...["effect/sql", "effect/sql/SqlClient", "@effect/sql-pg", "@effect/sql-pg/PgClient", "node:sqlite"]
  ),
  allows("packages/router/src", "@tachograph/api", "@tachograph/core", "@tachograph/core/domain/Agent", "node:http"),

  forbids(
    "packages/storage-sql/src",
    "storage-sql imports only core.",
    "@tachograph/storage-sqlite",
    "@tachograph/api"
  ),
  forbids(
    "packages/storage-sql/src",
    "storage-sql does not depend on a transport, a platform or a driver.",
    ...["effect/http", "effect/http/HttpRouter", "@effect/sql-pg", "node:sqlite", "node:fs/promises"]
  ),
  allows("packages/storage-sql/src", "@tachograph/core", "@tachograph/core/domain/Agent", "effect/sql"),

  ...["packages/storage-sqlite/src", "packages/storage-postgres/src"].flatMap((folder) => [
    forbids(
      folder,
      "A database's package imports only storage-sql and core.",
      ...["@tachograph/api", "@tachograph/router", "@tachograph/storage-sqlite"]
    ),
    forbids(
      folder,
      "A storage does not depend on a transport.",
      ...["effect/http", "effect/http/HttpRouter", "@effect/platform-node", "@effect/platform-node/NodeHttpServer"]
    ),
    allows(folder, "@tachograph/core", "@tachograph/core/domain/Agent", "@tachograph/storage-sql"),
    allows(folder, "effect/sql", "node:sqlite", "@effect/sql-pg")
  ]),

  forbids(
    "packages/server/src",
    "server imports only router, the storages and their dependencies.",
    ...["@tachograph/testkit", "@tachograph/lambda", "@tachograph/server"]
  ),
  allows("packages/server/src", "@tachograph/router", "@tachograph/storage-sqlite", "@tachograph/api", "node:http"),
  allows("packages/server/src", "@tachograph/core", "@tachograph/core/domain/Agent"),

  forbids(
    "packages/lambda/src",
    "lambda imports only router and its dependencies, and no storage.",
    ...["@tachograph/storage-sql", "@tachograph/storage-postgres", "@tachograph/server"]
  ),
  forbids(
    "packages/lambda/src",
    "lambda imports no storage.",
    ...["effect/sql", "effect/sql/SqlClient", "@effect/sql-pg", "@effect/sql-pg/PgClient", "node:sqlite"]
  ),
  allows("packages/lambda/src", "@tachograph/router", "@tachograph/api", "hono/aws-lambda"),
  allows("packages/lambda/src", "@tachograph/core", "@tachograph/core/domain/Agent"),

  forbids(
    "packages/testkit/src",
    "testkit imports only api and core.",
    ...["@tachograph/router", "@tachograph/storage-sql", "@tachograph/testkit"]
  ),
  allows("packages/testkit/src", "@tachograph/api", "@tachograph/core", "@tachograph/core/domain/Agent", "vitest")
]

/** Violations that depend on more than a module's name: whole files, with the rule that reports them. */
export const violations: ReadonlyArray<{ readonly file: string; readonly text: string; readonly rule?: string }> = [
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
  { file: "packages/another/src/absolute.ts", text: `import "/Thing.ts"\n`, rule: "no-absolute-path" },
  {
    file: "packages/another/src/late.ts",
    text: `export const y = 1\nimport { x } from "./good.ts"\nexport const z = x\n`,
    rule: "first"
  },
  {
    file: "packages/another/src/twice.ts",
    text: `import { x } from "./good.ts"\nimport { y } from "./good.ts"\nexport const z = [x, y]\n`,
    rule: "no-duplicates"
  },
  { file: "packages/another/src/mutable.ts", text: `let x = 1\nx = 2\nexport { x }\n`, rule: "no-mutable-exports" },
  {
    file: "packages/another/src/equal.ts",
    text: `export const same = (x: unknown, y: unknown) => x == y\n`,
    rule: "eqeqeq"
  },
  { file: "packages/another/src/variable.ts", text: `var x = 1\nexport const y = x\n`, rule: "no-var" },
  { file: "packages/another/src/constant.ts", text: `let x = 1\nexport const y = x\n`, rule: "prefer-const" },
  {
    file: "packages/another/src/any.ts",
    text: `export const f = (x: any) => x\n`,
    rule: "no-explicit-any"
  },
  { file: "packages/testkit/src/any.ts", text: `export const f = (x: any) => x\n` },
  { file: "packages/another/test/any.ts", text: `export const f = (x: any) => x\n` },
  { file: "packages/another/src/spread.ts", text: `export const x = [...["a", "b"], ...["c"]]\n` },
  { file: "packages/another/src/unused.ts", text: `const unused = 1\nexport {}\n`, rule: "no-unused-vars" },
  { file: "packages/another/src/good.ts", text: `import { Effect } from "effect"\nexport const x = Effect.void\n` }
]
