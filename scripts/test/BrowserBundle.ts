/** Bundles a module of a package as for a page. */
import { build } from "esbuild"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"

/** The bytes after gzip, and the modules that the bundle holds. `file` is a path below `packages`. */
export const bundle = async (file: string) => {
  const entry = fileURLToPath(new URL(`../../packages/${file}`, import.meta.url))
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    metafile: true,
    write: false
  })
  const [output] = outputFiles
  return { bytes: gzipSync(output?.contents ?? "", { level: 9 }).length, inputs: Object.keys(metafile.inputs) }
}
