/** What the import rules of oxlint.config.ts forbid and allow, by package and room. */
import { messageOf, roomsByPackage } from "../lint/Rooms.ts"

/** Modules imported by files of a folder, or by a file, and the message that the rule reports, if any. */
interface Case {
  readonly from: string
  readonly modules: ReadonlyArray<string>
  readonly message?: string
}

const forbids = (from: string, message: string, ...modules: ReadonlyArray<string>): Case => ({ from, modules, message })
const allows = (from: string, ...modules: ReadonlyArray<string>): Case => ({ from, modules })

const byName = "Import another package by its name."
const oneByOne = "Import the modules of @effect/platform-node one by one."
const loadLittle = "Import its modules one by one: every thread that loads a module has memory for it."
const noBarrel = "Import the module itself, not the package's index."

/** The cases of a package, for its `src` and for each of its rooms, whose overrides repeat the package's patterns. */
const inPackage = (name: string, cases: (from: string) => ReadonlyArray<Case>): ReadonlyArray<Case> => [
  ...cases(`packages/${name}/src`),
  ...(roomsByPackage[name] ?? []).flatMap((room) => cases(`packages/${name}/src/${room.name}`))
]

/** The message for a room. The rooms that it may import have cases in ImportRules.test.ts. */
const roomForbids = (name: string, roomName: string, ...modules: ReadonlyArray<string>): Case => {
  const room = roomsByPackage[name]!.find((candidate) => candidate.name === roomName)!
  return forbids(`packages/${name}/src/${roomName}`, messageOf(room), ...modules)
}

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

/** They have no Effect and nothing of Node, so that they stay small in a browser. */
const browserLibraries = ["formats", "capture", "prices", "client", "viewer"]

const forEveryPackage = [...libraries, ...browserLibraries, "another"].flatMap((name): ReadonlyArray<Case> => {
  const src = `packages/${name}/src`
  return [
    ...inPackage(name, (from) => [
      forbids(from, byName, "../../other/src/Thing.ts", "../../other/dist/Thing.js", "../../other/package.json"),
      forbids(from, byName, "../node_modules/effect/dist/index.js"),
      forbids(from, noBarrel, "./index.ts", "./index.js", "./inner/index.ts", ".", "./", "../index.ts", ".."),
      ...(browserLibraries.includes(name) ? [] : [allows(from, "effect/Effect")])
    ]),
    forbids(`${src}/inner`, byName, "../../../other/src/Thing.ts"),
    forbids(`packages/${name}/test`, byName, "../../other/src/Thing.ts", "../../other/test/Thing.ts"),
    forbids(`${src}/inner`, noBarrel, "../index.ts", ".."),
    allows(src, "./Thing.ts", "./inner/Thing.ts", "../package.json"),
    allows(`packages/${name}/test`, "../src/index.ts", "../src/inner/Thing.ts", "./Thing.ts", "@tachograph/testkit")
  ]
})

export const cases: ReadonlyArray<Case> = [
  ...forEveryPackage,
  ...["router", "server", "lambda", "testkit"].flatMap((name) =>
    inPackage(name, (from) => [
      forbids(from, oneByOne, "@effect/platform-node"),
      allows(from, "@effect/platform-node/NodeHttpServer")
    ])
  ),
  ...[...libraries, ...browserLibraries].flatMap((name) =>
    inPackage(name, (from) => [
      forbids(
        from,
        loadLittle,
        "effect",
        "effect/encoding",
        "effect/http",
        "effect/observability",
        "effect/reactivity"
      ),
      ...(browserLibraries.includes(name) ? [] : [allows(from, "effect/encoding/Hex", "effect/Option")])
    ])
  ),
  forbids("packages/another/src", oneByOne, "@effect/platform-node"),
  forbids("packages/server/test", oneByOne, "@effect/platform-node"),
  forbids("examples/one/src", oneByOne, "@effect/platform-node"),
  forbids("examples/one/src", byName, "../../../packages/core/src/Thing.ts", "../../other/src/Thing.ts"),
  forbids("scripts", byName, "../packages/core/src/Thing.ts"),
  allows("examples/one/src", "@tachograph/router", "@tachograph/storage-sqlite", "./Thing.ts"),

  ...inPackage("formats", (from) => [
    forbids(from, "formats imports no other package.", "@tachograph/core", "@tachograph/formats"),
    forbids(
      from,
      "formats has no dependency and runs in a browser.",
      "node:buffer",
      "effect",
      "@effect/platform-node/X"
    )
  ]),
  ...inPackage("capture", (from) => [
    forbids(from, "capture imports only formats.", "@tachograph/core", "@tachograph/client", "@tachograph/capture"),
    forbids(
      from,
      "capture runs in a browser, as a part of client.",
      "node:buffer",
      "effect",
      "@effect/platform-node/X"
    ),
    allows(from, "@tachograph/formats", "@tachograph/formats/json/Read")
  ]),
  ...inPackage("prices", (from) => [
    forbids(from, "prices imports no other package.", "@tachograph/formats", "@tachograph/prices"),
    forbids(from, "prices runs in a browser.", "node:fs/promises", "effect/Schema", "@effect/platform-node/X")
  ]),
  ...inPackage("viewer", (from) => [
    forbids(
      from,
      "The module of the viewer's pages imports no other package.",
      "@tachograph/api",
      "@tachograph/viewer"
    ),
    forbids(from, "The module of the viewer's pages is only data.", "node:zlib", "effect", "@effect/platform-node/X")
  ]),
  ...[
    "packages/viewer/app",
    "packages/viewer/app/parts",
    "packages/viewer/app/route",
    "packages/viewer/app/pages/one"
  ].flatMap((from) => [
    forbids(
      from,
      "The pages of the viewer import only client/api and client/compare: they run in a browser, and are small.",
      ...["@tachograph/client", "@tachograph/formats", "effect", "effect/Option", "node:fs"]
    ),
    forbids(from, byName, "../../other/src/Thing.ts"),
    allows(from, "@tachograph/client/api", "@tachograph/client/compare", "preact/hooks", "./Thing.ts")
  ]),
  forbids(
    "packages/viewer/app/parts/message",
    "What pages share knows no page, and no place of one.",
    ...["../../pages/one/Thing.ts", "../../route/Route.ts"]
  ),
  forbids(
    "packages/viewer/app/pages/one",
    "A page imports no other page: put what both need into parts.",
    "../two/Thing.ts"
  ),
  forbids(
    "packages/viewer/app/route",
    "A place knows no page: Page.tsx says which page it has.",
    "../pages/one/Thing.tsx"
  ),
  allows("packages/viewer/app/pages/one", "../../parts/Thing.ts", "../../route/Route.ts"),
  ...inPackage("client", (from) => [
    forbids(from, "client imports only capture and formats.", "@tachograph/api", "@tachograph/core/domain/Agent"),
    forbids(
      from,
      "client runs where there is only fetch: ask platform/Builtins.ts for modules of Node.",
      ...["node:fs", "effect", "@effect/platform-node/X"]
    ),
    allows(from, "@tachograph/capture/Kinds", "@tachograph/formats", "@tachograph/formats/anthropic/Messages")
  ]),
  roomForbids("client", "delivery", "../tap/Thing.ts", "../Recorder.ts"),

  ...inPackage("core", (from) => [
    forbids(from, "core imports only formats and prices.", "@tachograph/core", "@tachograph/api"),
    forbids(
      from,
      "core is independent of HTTP, SQL and platforms.",
      ...["effect/http", "effect/http/HttpRouter", "effect/http-api", "effect/http-api/HttpApi"],
      ...["effect/sql", "effect/sql/SqlClient", "@effect/platform-node/NodeHttpServer", "@effect/sql-pg"]
    ),
    forbids(
      from,
      "The only Node modules that core imports are buffer, crypto and zlib.",
      "node:http",
      "node:fs/promises"
    ),
    allows(from, "effect/Schema"),
    ...(from.endsWith("/domain") ? [] : [allows(from, "node:buffer", "node:crypto", "node:zlib")])
  ]),
  allows("packages/core/src", "./domain/Thing.ts"),
  forbids(
    "packages/core/src/domain",
    "The domain runs in a browser, as a part of api.",
    ...["node:crypto", "node:zlib", "node:fs/promises"]
  ),
  roomForbids("core", "domain", "../Thing.ts", "../payload/Thing.ts", "../Storage.ts"),
  roomForbids("core", "payload/format", "../Thing.ts", "../scan/Thing.ts", "../../Storage.ts"),
  roomForbids("core", "payload/scan", "../Thing.ts", "../../record/Thing.ts"),
  roomForbids("core", "payload", "../Storage.ts", "../sessions/Thing.ts"),
  roomForbids("core", "storage", "../Storage.ts", "../sessions/Thing.ts"),
  roomForbids("core", "Storage.ts", "./sessions/Thing.ts", "./memory/Thing.ts", "./Recorder.ts"),
  roomForbids("core", "sessions", "../record/Thing.ts", "../read/Thing.ts"),
  forbids("packages/core/src/sessions", noBarrel, "../payload/index.ts", "../domain/index.ts"),
  roomForbids("core", "record", "../memory/Thing.ts", "../read/Thing.ts", "../Recorder.ts"),
  roomForbids("core", "read", "../record/Thing.ts", "../Recorder.ts"),
  roomForbids("core", "erase", "../memory/Thing.ts", "../read/Thing.ts"),

  ...inPackage("api", (from) => [
    forbids(
      from,
      "api imports core/domain and no other package.",
      ...["@tachograph/core", "@tachograph/api", "@tachograph/router", "@tachograph/storage-sql", "@tachograph/testkit"]
    ),
    forbids(from, "api runs in a browser.", "node:crypto", "node:fs/promises")
  ]),
  ...["packages/api/src", "packages/api/src/groups"].flatMap((from) => [
    forbids(
      from,
      "The contract is independent of handlers, storages and platforms.",
      ...[
        "effect/sql",
        "effect/sql/SqlClient",
        "effect/http-api/HttpApiBuilder",
        "@effect/platform-node/NodeHttpServer"
      ]
    ),
    allows(from, "@tachograph/core/domain/Agent", "effect/http/Headers", "../Thing.ts")
  ]),

  ...inPackage("router", (from) => [
    forbids(
      from,
      "router imports only api, client/api, capture, core, formats and viewer.",
      ...["@tachograph/storage-sql", "@tachograph/client", "@tachograph/server", "@tachograph/router"]
    ),
    forbids(
      from,
      "router is independent of the storage.",
      ...["effect/sql", "effect/sql/SqlClient", "@effect/sql-pg", "@effect/sql-pg/PgClient", "node:sqlite"]
    ),
    allows(
      from,
      "@tachograph/api",
      "@tachograph/client/api",
      "@tachograph/core",
      "@tachograph/core/domain/Agent",
      "node:http"
    )
  ]),
  roomForbids("router", "Engine.ts", "./engine/Thing.ts", "./handlers/Thing.ts", "./front/Thing.ts"),
  roomForbids("router", "events", "../engine/Thing.ts", "../handlers/Thing.ts", "../front/Thing.ts"),
  roomForbids("router", "handlers", "../engine/Thing.ts", "../front/Thing.ts"),
  roomForbids("router", "engine", "../front/Thing.ts", "../mounts/Thing.ts"),
  roomForbids("router", "front", "../handlers/Thing.ts", "../events/Thing.ts", "../mounts/Thing.ts"),
  roomForbids("router", "mounts", "../engine/Thing.ts", "../handlers/Thing.ts", "../Tachograph.ts"),

  ...inPackage("storage-sql", (from) => [
    forbids(from, "storage-sql imports only core.", "@tachograph/storage-sqlite", "@tachograph/api"),
    forbids(
      from,
      "storage-sql is independent of HTTP, platforms and drivers.",
      ...["effect/http", "effect/http/HttpRouter", "@effect/sql-pg", "node:sqlite", "node:fs/promises"]
    ),
    allows(from, "@tachograph/core", "@tachograph/core/domain/Agent", "effect/sql")
  ]),
  roomForbids("storage-sql", "sql", "../append/Thing.ts", "../SqlStorage.ts"),
  roomForbids("storage-sql", "read", "../append/Thing.ts", "../erase/Thing.ts"),
  roomForbids("storage-sql", "rollup", "../usage/Thing.ts", "../append/Thing.ts"),
  roomForbids("storage-sql", "append", "../read/Thing.ts", "../erase/Thing.ts", "../SqlStorage.ts"),

  ...["packages/storage-sqlite/src", "packages/storage-postgres/src"].flatMap((from) => [
    forbids(
      from,
      "A database's package imports only storage-sql and core.",
      ...["@tachograph/api", "@tachograph/router", "@tachograph/storage-sqlite"]
    ),
    forbids(
      from,
      "A storage is independent of HTTP and platforms.",
      ...["effect/http", "effect/http/HttpRouter", "@effect/platform-node", "@effect/platform-node/NodeHttpServer"]
    ),
    allows(from, "@tachograph/core", "@tachograph/core/domain/Agent", "@tachograph/storage-sql"),
    allows(from, "effect/sql", "node:sqlite", "@effect/sql-pg")
  ]),

  ...inPackage("server", (from) => [
    forbids(
      from,
      "server imports only router, api, client/api, capture, core, formats, prices and the storages.",
      ...["@tachograph/testkit", "@tachograph/client", "@tachograph/lambda", "@tachograph/server"]
    ),
    allows(from, "@tachograph/router", "@tachograph/client/api", "@tachograph/storage-sqlite", "@tachograph/api"),
    allows(from, "@tachograph/core", "@tachograph/core/domain/Agent")
  ]),
  roomForbids("server", "config", "../commands/Thing.ts", "../http/Thing.ts"),
  roomForbids("server", "http", "../workers/Thing.ts", "../commands/Thing.ts", "../../package.json"),
  roomForbids("server", "workers", "../commands/Thing.ts", "../Cli.ts"),
  allows("packages/server/src/process", "../../package.json"),

  forbids(
    "packages/lambda/src",
    "lambda imports only router, api and core.",
    ...["@tachograph/storage-sql", "@tachograph/storage-postgres", "@tachograph/server"]
  ),
  forbids(
    "packages/lambda/src",
    "lambda is independent of the storage.",
    ...["effect/sql", "effect/sql/SqlClient", "@effect/sql-pg", "@effect/sql-pg/PgClient", "node:sqlite"]
  ),
  allows("packages/lambda/src", "@tachograph/router", "@tachograph/api", "hono/aws-lambda"),
  allows("packages/lambda/src", "@tachograph/core", "@tachograph/core/domain/Agent"),

  ...inPackage("testkit", (from) => [
    forbids(
      from,
      "testkit imports only api and core.",
      ...["@tachograph/router", "@tachograph/storage-sql", "@tachograph/testkit"]
    ),
    allows(from, "@tachograph/api", "@tachograph/core", "@tachograph/core/domain/Agent", "vitest")
  ]),
  roomForbids("testkit", "check", "../storage/Thing.ts", "../http/Thing.ts", "../StorageSuite.ts")
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
