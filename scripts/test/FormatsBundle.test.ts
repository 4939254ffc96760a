import { build } from "esbuild"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"

/** The most that `@tachograph/formats` may add to a page, in bytes after gzip. */
const maxBytes = 25_000

const bundle = async (file: string) => {
  const entry = fileURLToPath(new URL(`../../packages/formats/src/${file}.ts`, import.meta.url))
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

describe("the bundle of formats for a browser", () => {
  it("is small, and depends on nothing", async () => {
    const { bytes, inputs } = await bundle("index")
    expect(bytes).toBeLessThanOrEqual(maxBytes)
    expect(inputs.filter((input) => !input.startsWith("packages/formats/src/"))).toEqual([])
  })

  it.each(["ChatCompletions", "Responses", "Messages", "Models", "Interactions", "AiSdk"])(
    "can hold one format alone: %s",
    async (format) => {
      const { inputs } = await bundle(format)
      const names = inputs.map((input) => input.replace(/^.*\//, "").replace(/\.ts$/, ""))
      const others = ["ChatCompletions", "Responses", "Messages", "Models", "Interactions", "AiSdk"].filter(
        (name) => name !== format
      )
      expect(names).toContain(format)
      expect(names.filter((name) => others.includes(name))).toEqual([])
    }
  )
})
