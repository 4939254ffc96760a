/**
 * Bundles the programs and threads that tests start. From the sources, each of them loads several hundred modules first, which
 * takes three to five times as much CPU time; tests start hundreds.
 */
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Plugin as VitePlugin } from "vitest/config"
import type { TestProject } from "vitest/node"
import { bundle, path, server } from "../bundle/Bundle.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The path of the command `tachograph`; it takes the arguments of `packages/server/src/bin.ts`. */
    readonly tachographProgram: string
    /** The path of `packages/lambda/test/FunctionModules.ts`. */
    readonly lambdaModules: string
    /** The path of `packages/lambda/test/SigtermProcess.ts`. */
    readonly lambdaSigtermProgram: string
  }
}

const outdir = path("node_modules/.cache/tests")

/** Modules that engine threads load, by their bundles, which `bundledThreads` names in their place. */
const threadModules = {
  EngineStorage: server.EngineStorage,
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
  await bundle(outdir, {
    tachographProgram: server.tachograph,
    // What the program loads on the engine's thread has the names under which it looks for it.
    Thread: server.Thread,
    ...threadModules,
    lambdaModules: path("packages/lambda/test/FunctionModules.ts"),
    lambdaSigtermProgram: path("packages/lambda/test/SigtermProcess.ts")
  })
  for (const name of ["tachographProgram", "lambdaModules", "lambdaSigtermProgram"] as const) {
    project.provide(name, join(outdir, `${name}.mjs`))
  }
}
