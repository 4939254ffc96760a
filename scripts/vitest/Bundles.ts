/**
 * Bundles the programs and threads that tests start. From the sources, each of them loads several hundred modules first, which
 * takes three to five times as much CPU time; tests start hundreds.
 */
import { build, type Plugin } from "esbuild"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import type { Plugin as VitePlugin } from "vitest/config"
import type { TestProject } from "vitest/node"

declare module "vitest" {
  interface ProvidedContext {
    /** The path of the command `tachograph`; it takes the arguments of `packages/server/src/main.ts`. */
    readonly tachographProgram: string
    /** The path of `packages/lambda/test/FunctionModules.ts`. */
    readonly lambdaModules: string
    /** The path of `packages/lambda/test/SigtermProcess.ts`. */
    readonly lambdaSigtermProgram: string
  }
}

const path = (relative: string) => fileURLToPath(new URL(`../../${relative}`, import.meta.url))

/** Optional dependencies of `pg` and of `@effect/platform-node`, which are not installed. */
const external = ["pg-native", "redis"]

/**
 * Loads Node's modules through `require`. An `import` reads every export, and the getters of `node:http` load an HTTP client
 * that the program does not use.
 */
const requiredBuiltins: Plugin = {
  name: "required-builtins",
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^node:/ }, ({ namespace, path }) =>
      namespace === "builtin" ? { path, external: true } : { path, namespace: "builtin" }
    )
    onLoad({ filter: /^/, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`
    }))
  }
}

const outdir = path("node_modules/.cache/tests")

/** Modules that engine threads load, by their bundles, which `bundledThreads` names in their place. */
const threadModules = {
  EngineStorage: path("packages/server/src/commands/EngineStorage.ts"),
  SqliteStorage: path("packages/storage-sqlite/src/index.ts"),
  PostgresStorage: path("packages/storage-postgres/src/index.ts"),
  FragileStorage: path("packages/router/test/engine/FragileStorage.ts"),
  OverheardStorage: path("packages/router/test/engine/OverheardStorage.ts")
}

/** The bundles of threads, by the modules that look for them beside themselves. */
const bundleOf = new Map([
  [path("packages/router/src/engine/thread/EngineThread.ts"), "Thread"],
  ...Object.entries(threadModules).map(([name, module]) => [module, name] as const)
])

/** Has the modules that name what a thread loads stand beside the bundles, so that the threads of tests load those. */
export const bundledThreads: VitePlugin = {
  name: "bundled-threads",
  enforce: "pre",
  transform: (code, id) => {
    const name = bundleOf.get(id)
    if (name === undefined) return undefined
    return code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(join(outdir, `${name}.mjs`)).href))
  }
}

export default async (project: TestProject) => {
  await build({
    entryPoints: {
      tachographProgram: path("packages/server/src/main.ts"),
      // What the program loads on the engine's thread has the names under which it looks for it.
      Thread: path("packages/router/src/engine/thread/Thread.ts"),
      ...threadModules,
      lambdaModules: path("packages/lambda/test/FunctionModules.ts"),
      lambdaSigtermProgram: path("packages/lambda/test/SigtermProcess.ts")
    },
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // What the sources import dynamically is in files of its own, which a start does not read.
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node22",
    external,
    plugins: [requiredBuiltins],
    // CommonJS dependencies call `require`.
    banner: { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);` },
    logLevel: "error"
  })
  for (const name of ["tachographProgram", "lambdaModules", "lambdaSigtermProgram"] as const) {
    project.provide(name, join(outdir, `${name}.mjs`))
  }
}
