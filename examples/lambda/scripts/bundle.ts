/** Bundles the function with esbuild into a few files, so that it starts quickly. */
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
  // Dynamic imports become separate files, loaded on demand: the /docs page is larger than the rest together.
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
  // A second documentation page, which Tachograph does not serve.
  external: ["*/httpApiSwagger.js"],
  // Bundled CommonJS code calls `require` for Node's modules, which an ES module does not have.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);'
  }
}

/** Empties `outdir`, then writes `handler.mjs` and its chunks into it. */
export const bundleInto = async (outdir: string, entry: BuildOptions = { entryPoints: ["src/handler.ts"] }) => {
  rmSync(outdir, { recursive: true, force: true })
  await build({ ...options, ...entry, outdir })
}

/** The files of a bundle with their sizes in bytes. */
export const sizes = (outdir: string) =>
  readdirSync(outdir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => {
      const bytes = readFileSync(join(parentPath, name))
      return { name, size: bytes.length, gzipped: gzipSync(bytes).length }
    })
