/** The function as few files that start quickly, by esbuild. */
import { build, type BuildOptions } from "esbuild"
import { readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"

export const folder = fileURLToPath(new URL("..", import.meta.url))

const options: BuildOptions = {
  absWorkingDir: folder,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node22",
  minify: true,
  outExtension: { ".js": ".mjs" },
  // What is imported when somebody asks for it becomes a file of its own: the page of /docs weighs more than all the rest.
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  // Another such page, which nothing here serves.
  external: ["*/httpApiSwagger.js"],
  // What is CommonJS asks for Node's modules in its own way.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);'
  }
}

/** Writes `handler.mjs` and its chunks into a folder, which is emptied first. */
export const bundleInto = async (outdir: string, entry: BuildOptions = { entryPoints: ["src/handler.ts"] }) => {
  rmSync(outdir, { recursive: true, force: true })
  await build({ ...options, ...entry, outdir })
}

/** What the files of a bundle weigh, in bytes. */
export const weigh = (outdir: string) =>
  readdirSync(outdir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => {
      const bytes = readFileSync(join(parentPath, name))
      return { name, size: bytes.length, gzipped: gzipSync(bytes).length }
    })
