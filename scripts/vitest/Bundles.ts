/**
 * Bundles the programs that tests start. A process that starts from the sources loads several hundred modules first, which
 * takes about three times as much CPU time; tests start more than a hundred.
 */
import { build, type Plugin } from "esbuild"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
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

export default async (project: TestProject) => {
  const outdir = path("node_modules/.cache/tests")
  await build({
    entryPoints: {
      tachographProgram: path("packages/server/src/main.ts"),
      // The modules that the program loads on the engine's thread, by the names under which it looks for them.
      Thread: path("packages/router/src/engine/thread/Thread.ts"),
      EngineStorage: path("packages/server/src/commands/EngineStorage.ts"),
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
