/** Bundles programs of the tree, and the threads that they start. From the sources, each loads several hundred modules first. */
import { build, type Plugin } from "esbuild"
import { fileURLToPath } from "node:url"

/** The path of a file of the tree. */
export const path = (relative: string): string => fileURLToPath(new URL(`../../${relative}`, import.meta.url))

/** The server and the modules that its threads load, by the names under which it looks for them beside itself. */
export const server = {
  tachograph: path("packages/server/src/bin.ts"),
  Thread: path("packages/router/src/engine/thread/Thread.ts"),
  EngineStorage: path("packages/server/src/commands/EngineStorage.ts")
}

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

/** Writes the bundle of each entry, `NAME.mjs`, into a folder. */
export const bundle = (outdir: string, entryPoints: Record<string, string>) =>
  build({
    entryPoints,
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // What the sources import dynamically is in files of its own, which a start does not read.
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node22",
    // V8 keeps the text of all that it has loaded, once for each thread. Names stay, for stack traces.
    minifyWhitespace: true,
    plugins: [requiredBuiltins],
    // CommonJS dependencies call `require`.
    banner: { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);` },
    logLevel: "error"
  })
