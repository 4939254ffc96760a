/**
 * Programs that tests run in processes of their own. Each is bundled into one file first: from the sources, a process loads
 * several hundred modules and strips their types, which takes about ten times as much processor time.
 */
import { build } from "esbuild"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("../../node_modules/.cache/tests/programs/", import.meta.url))

export interface Program {
  /** The bundle, for what is done with its process. */
  readonly file: string
  /** Runs the program with Node. Resolves with its output; rejects with its errors unless it exits with 0. */
  readonly run: (...args: ReadonlyArray<string>) => Promise<string>
}

const run = (file: string, args: ReadonlyArray<string>) =>
  new Promise<string>((resolve, reject) => {
    const child = spawn(process.execPath, [file, ...args])
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (chunk) => (stdout += chunk))
    child.stderr.on("data", (chunk) => (stderr += chunk))
    child.on("close", (code) => (code === 0 ? resolve(stdout) : reject(new Error(`exit ${code}: ${stderr}`))))
  })

/** Bundles the program at `source`. `name` is unique in the tree, because it names the bundle. */
export const bundle = async (name: string, source: URL): Promise<Program> => {
  const outfile = `${folder}${name}.mjs`
  await build({
    entryPoints: [fileURLToPath(source)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node22",
    // Optional dependency of `pg`, which is not installed.
    external: ["pg-native"],
    // CommonJS dependencies call `require`.
    banner: { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);` },
    logLevel: "error"
  })
  return { file: outfile, run: (...args) => run(outfile, args) }
}
