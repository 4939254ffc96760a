/**
 * Bundles the command `tachograph` into one file, from which tests start it. A process that starts from the sources loads
 * several hundred modules first, which takes about three times as much CPU time; tests start more than a hundred.
 */
import { build } from "esbuild"
import { fileURLToPath } from "node:url"
import type { TestProject } from "vitest/node"

declare module "vitest" {
  interface ProvidedContext {
    /** The path of the bundle; it takes the arguments of `packages/server/src/main.ts`. */
    readonly tachographProgram: string
  }
}

const path = (relative: string) => fileURLToPath(new URL(`../../${relative}`, import.meta.url))

/** Optional dependencies of `pg` and of `@effect/platform-node`, which are not installed. */
const external = ["pg-native", "redis"]

export default async (project: TestProject) => {
  const outfile = path(`node_modules/.cache/tests/${project.name}/tachograph.mjs`)
  await build({
    entryPoints: [path("packages/server/src/main.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node22",
    external,
    // CommonJS dependencies call `require`.
    banner: { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);` },
    logLevel: "error"
  })
  project.provide("tachographProgram", outfile)
}
