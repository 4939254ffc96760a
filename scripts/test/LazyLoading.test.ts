/**
 * What is loaded or made later than at the start, and what follows if that fails. Nothing may fail for good: it is tried again, or
 * nothing outside the process takes part in it. A new `import()` or once-only initialisation needs a line here.
 */
import { globSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { path } from "../bundle/Bundle.ts"

/** `import()`, by file. Types do not count. */
const imports: Readonly<Record<string, string>> = {
  "packages/core/src/facts/Prices.ts":
    "Lazy, by Pricing.ts: tried with each event, which is recorded without a cost meanwhile",
  "packages/router/src/engine/Viewer.ts": "Lazy: tried with each request, which is answered 503 meanwhile",
  "packages/router/src/engine/thread/ThreadServices.ts":
    "at the start of a thread; another thread loads anew, and Supervisor.ts starts it",
  "packages/server/src/Cli.ts": "the commands but serve, at the start of the process, which ends if that fails",
  "packages/server/src/bin.ts": "the program, at the start of the process, which ends if that fails",
  "packages/server/src/config/StorageChoice.ts": "when a storage is opened: at the start of a process or of a thread",
  "packages/server/src/signin/Provider.ts":
    "Lazy, where people sign in: tried with each sign-in, which is answered 500 meanwhile",
  "packages/viewer/app/Page.tsx": "the page says so, and its button loads everything again",
  "packages/viewer/app/help/PageHelp.tsx":
    "tried again when the help is opened again; a reload of the page loads all anew",
  "packages/viewer/app/pages/session/SessionPage.tsx":
    "tried again when the timeline is chosen again; a reload of the page loads all anew",
  "packages/viewer/app/pages/sessions/SessionList.tsx":
    "the preview: tried again with the next session; a reload of the page loads all anew",
  "packages/viewer/app/pages/sessions/SessionsPage.tsx":
    "the first minute: tried again where the list is shown again; a reload of the page loads all anew",
  "packages/viewer/app/palette/Palette.tsx":
    "tried again when the palette is opened again; a reload of the page loads all anew"
}

/** Modules of packages that import lazily by themselves. What `pg` requires with a connection, it requires again with the next one. */
const lazyPackages: Readonly<Record<string, string>> = {
  "packages/router/src/engine/ContractPages.ts":
    "HttpApiScalar: Lazy, tried with each request, which is answered 503 meanwhile"
}

/** Effects that run once, and variables that are set once: none of them needs a file or the network, but for those that say so. */
const once: Readonly<Record<string, string>> = {
  "packages/core/src/Lazy.ts": "keeps successes only",
  "packages/core/src/payload/Split.ts": "memory",
  "packages/core/src/search/CaseFolding.ts": "computed; ICU is part of Node",
  "packages/lambda/src/Handler.ts": "the next invocation opens again",
  "packages/router/src/Tachograph.ts": "closes once",
  "packages/router/src/engine/ContractPages.ts": "the description: computed",
  "packages/router/src/engine/thread/Supervisor.ts": "shared while it opens, then forgotten",
  "packages/router/src/engine/thread/ThreadEngine.ts": "a line of the log",
  "packages/server/src/process/GarbageCollection.ts": "a function of V8",
  "packages/storage-sqlite/src/file/OpenFiles.ts": "remembers a descriptor, and no failure"
}

const packages = "{capture,core,formats,lambda,prices,router,server,storage-postgres,storage-sql,storage-sqlite}"

const filesWith = (pattern: RegExp, ...globs: ReadonlyArray<string>): ReadonlyArray<string> =>
  globSync(globs, { cwd: path("."), exclude: (name) => /generated|node_modules|dist/.test(name) })
    .filter((file) => pattern.test(readFileSync(path(file), "utf8").replaceAll(/^ *(?:\/?\*|\/\/).*$/gm, "")))
    .sort()

it("every import() has a line", () => {
  const globs = [
    `packages/${packages}/src/**/*.ts`,
    "packages/{api,client,viewer}/{src,app}/**/*.{ts,tsx}",
    "examples/*/src/**/*.ts"
  ]
  expect(filesWith(/(?<!typeof )\bimport\([^)]*\)(?!\.[A-Z])/, ...globs)).toEqual(Object.keys(imports).sort())
})

it("every use of a package that imports lazily has a line", () => {
  expect(filesWith(/HttpApiScalar|HttpApiSwagger/, `packages/${packages}/src/**/*.ts`)).toEqual(
    Object.keys(lazyPackages)
  )
})

it("every initialisation that is made once and shared has a line", () => {
  const pattern =
    /Effect\.cached|Layer\.memo|^let \w+.*(?:undefined|false|new )|\((?:\w+\.|this\.#)?(?:opening|closing|descriptor) \?\?=/m
  expect(filesWith(pattern, `packages/${packages}/src/**/*.ts`)).toEqual(Object.keys(once).sort())
})
