/** The lint rules. They include which package may import which; the imports within a package are in scripts/lint/Rooms.ts. */
import type { OxlintConfig, OxlintOverride } from "oxlint"
import { filesOf, patternOf, roomsByPackage } from "./scripts/lint/Rooms.ts"

type Pattern = { readonly message: string } & ({ readonly regex: string } | { readonly group: Array<string> })

const oneByOne: Pattern = {
  regex: "^@effect/platform-node$",
  message: "Import the modules of @effect/platform-node one by one."
}
/** `effect/cli` and `effect/sql` are small, or used whole. */
const loadLittle: Pattern = {
  regex: "^effect(/(encoding|http|observability|reactivity))?$",
  message: "Import its modules one by one: every thread that loads a module has memory for it."
}
const byName: Pattern = {
  regex: "^(\\.\\./)+(packages/)?[\\w-]+/((src|test|dist)/|package\\.json$)|node_modules/",
  message: "Import another package by its name."
}
const noBarrel: Pattern = {
  regex: "^\\.{1,2}(/.*)?/index(\\.[jt]s)?$|^\\.{1,2}(/\\.\\.)*/?$",
  message: "Import the module itself, not the package's index."
}

const http = ["effect/http*", "effect/http*/**"]
const sql = ["effect/sql", "effect/sql/**"]
const node = ["node:*", "node:*/**"]
const drivers = ["@effect/sql*", "@effect/sql*/**", "node:sqlite"]
const core = ["!@tachograph/core", "!@tachograph/core/**"]
const formats = ["!@tachograph/formats", "!@tachograph/formats/**"]
const capture = ["!@tachograph/capture", "!@tachograph/capture/**"]

/** Rejects all packages of this repository except those that `allowed` names, each as a negated glob. */
const packages = (message: string, ...allowed: ReadonlyArray<string>): Pattern => ({
  group: ["@tachograph/**", ...allowed],
  message
})

interface RestrictedName {
  readonly name: string
  readonly importNames: Array<string>
  readonly message: string
}

const restrict = (
  patterns: ReadonlyArray<Pattern>,
  paths: ReadonlyArray<RestrictedName> = []
): NonNullable<OxlintConfig["rules"]> => ({
  "no-restricted-imports": ["error", { patterns: [...patterns], paths: [...paths] }]
})

const patternsByPackage: Readonly<Record<string, ReadonlyArray<Pattern>>> = {
  formats: [
    packages("formats imports no other package."),
    {
      group: [...node, "effect", "effect/**", "@effect/**"],
      message: "formats has no dependency and runs in a browser."
    }
  ],
  capture: [
    packages("capture imports only formats.", ...formats),
    {
      group: [...node, "effect", "effect/**", "@effect/**"],
      message: "capture runs in a browser, as a part of client."
    }
  ],
  client: [
    packages("client imports only capture and formats.", ...capture, ...formats),
    {
      group: [...node, "effect", "effect/**", "@effect/**"],
      message: "client runs where there is only fetch: ask platform/Builtins.ts for modules of Node."
    }
  ],
  viewer: [
    packages("The module of the viewer's pages imports no other package."),
    { group: [...node, "effect", "effect/**", "@effect/**"], message: "The module of the viewer's pages is only data." }
  ],
  prices: [
    packages("prices imports no other package."),
    { group: [...node, "effect", "effect/**", "@effect/**"], message: "prices runs in a browser." }
  ],
  core: [
    packages("core imports only formats and prices.", ...formats, "!@tachograph/prices", "!@tachograph/prices/*"),
    { group: [...http, ...sql, "@effect/**"], message: "core is independent of HTTP, SQL and platforms." },
    {
      group: [...node, "!node:buffer", "!node:crypto", "!node:zlib"],
      message: "The only Node modules that core imports are buffer, crypto and zlib."
    }
  ],
  api: [
    packages("api imports core/domain and no other package.", "!@tachograph/core/domain/*"),
    { group: node, message: "api runs in a browser." },
    {
      group: [...sql, "effect/http-api/HttpApiBuilder", "@effect/**"],
      message: "The contract is independent of handlers, storages and platforms."
    }
  ],
  router: [
    oneByOne,
    packages(
      "router imports only api, client/api, capture, core, formats and viewer.",
      "!@tachograph/api",
      "!@tachograph/client/api",
      ...capture,
      ...core,
      ...formats,
      "!@tachograph/viewer"
    ),
    { group: [...sql, ...drivers], message: "router is independent of the storage." }
  ],
  "storage-sql": [
    packages("storage-sql imports only core.", ...core),
    {
      group: [...http, "@effect/**", ...node],
      message: "storage-sql is independent of HTTP, platforms and drivers."
    }
  ],
  ...Object.fromEntries(
    ["storage-sqlite", "storage-postgres"].map((name) => [
      name,
      [
        packages("A database's package imports only storage-sql and core.", "!@tachograph/storage-sql", ...core),
        {
          group: [...http, "@effect/platform-*", "@effect/platform-*/**"],
          message: "A storage is independent of HTTP and platforms."
        }
      ]
    ])
  ),
  server: [
    oneByOne,
    packages(
      "server imports only router, api, client/api, capture, core, formats, prices and the storages.",
      ...[
        "!@tachograph/router",
        "!@tachograph/client/api",
        ...capture,
        ...formats,
        "!@tachograph/prices/*",
        "!@tachograph/api",
        ...core,
        "!@tachograph/storage-*",
        "!@tachograph/storage-*/**"
      ]
    )
  ],
  lambda: [
    oneByOne,
    packages("lambda imports only router, api and core.", "!@tachograph/router", "!@tachograph/api", ...core),
    { group: [...sql, ...drivers], message: "lambda is independent of the storage." }
  ],
  testkit: [oneByOne, packages("testkit imports only api and core.", "!@tachograph/api", ...core)]
}

const namesByPackage: Readonly<Record<string, ReadonlyArray<RestrictedName>>> = {
  api: [{ name: "effect/http-api", importNames: ["HttpApiBuilder"], message: "Handlers belong to router." }]
}

/** Patterns for one room, in addition to those of its package. */
const patternsByRoom: Readonly<Record<string, ReadonlyArray<Pattern>>> = {
  "core/domain": [{ regex: "^node:", message: "The domain runs in a browser, as a part of api." }]
}

/**
 * An override replaces those before it, so each one repeats the patterns of its package. Regular expressions come first: a
 * module that a negated glob matches is exempt from all globs, and from every pattern that follows.
 */
const overridesOf = ([name, patterns]: readonly [string, ReadonlyArray<Pattern>]): ReadonlyArray<OxlintOverride> => {
  const override = (files: string, ...ofFiles: ReadonlyArray<Pattern>): OxlintOverride => ({
    files: [`packages/${name}/src/${files}`],
    rules: restrict([byName, noBarrel, loadLittle, ...ofFiles], namesByPackage[name])
  })
  return [
    override("**", ...patterns),
    ...(roomsByPackage[name] ?? []).map((room) =>
      override(filesOf(room), ...(patternsByRoom[`${name}/${room.name}`] ?? []), ...patterns, patternOf(room))
    )
  ]
}

/** The pages of the viewer are not in its `src`: only their bundle is. */
const viewerApp: Pattern = {
  group: ["@tachograph/**", "effect", "effect/**", ...node, "!@tachograph/client/api", "!@tachograph/client/compare"],
  message: "The pages of the viewer import only client/api and client/compare: they run in a browser, and are small."
}
const overridesOfViewerApp: ReadonlyArray<OxlintOverride> = [
  { files: ["packages/viewer/app/**"], rules: restrict([byName, viewerApp]) },
  {
    files: ["packages/viewer/app/{bytes,diff,find,keyboard,parts,server,settings,text}/**"],
    rules: restrict([
      byName,
      { regex: "^(\\.\\./)+(pages|route)/", message: "What pages share knows no page, and no place of one." },
      viewerApp
    ])
  },
  {
    files: ["packages/viewer/app/route/**"],
    rules: restrict([
      byName,
      { regex: "^(\\.\\./)+(pages|parts)/", message: "A place knows no page: Page.tsx says which page it has." },
      viewerApp
    ])
  },
  {
    files: ["packages/viewer/app/pages/**"],
    rules: restrict([
      byName,
      { regex: "^\\.\\./[\\w-]+/", message: "A page imports no other page: put what both need into parts." },
      viewerApp
    ])
  }
]

/** The longest function. */
const onAPage = { max: 100, skipBlankLines: true, skipComments: true }

const config: OxlintConfig = {
  plugins: ["eslint", "typescript", "unicorn", "oxc", "import"],
  categories: { correctness: "error" },
  options: { reportUnusedDisableDirectives: "error" },
  ignorePatterns: ["**/dist/**", "scratch/**"],
  rules: {
    eqeqeq: "error",
    "no-nested-ternary": "error",
    "no-var": "error",
    "prefer-const": "error",
    "import/first": "error",
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "import/no-duplicates": "error",
    "import/no-self-import": "error",
    "import/no-absolute-path": "error",
    "import/no-mutable-exports": "error",
    "typescript/consistent-type-imports": ["error", { fixStyle: "separate-type-imports" }],
    "typescript/no-explicit-any": "error",
    "typescript/no-require-imports": "error",
    "unicorn/no-useless-spread": "off",
    "unicorn/prefer-node-protocol": "error",
    ...restrict([oneByOne, byName])
  },
  overrides: [
    { files: ["packages/*/src/**"], rules: restrict([oneByOne, byName, noBarrel]) },
    { files: ["packages/*/src/**", "packages/viewer/app/**"], rules: { "max-lines-per-function": ["error", onAPage] } },
    {
      // Lists of cases, and a migration, which is never edited.
      files: ["packages/testkit/src/**", "packages/storage-sql/src/migrations/**"],
      rules: { "max-lines-per-function": "off" }
    },
    ...Object.entries(patternsByPackage).flatMap(overridesOf),
    ...overridesOfViewerApp,
    { files: ["packages/testkit/src/**", "**/test/**"], rules: { "typescript/no-explicit-any": "off" } }
  ]
}

export default config
