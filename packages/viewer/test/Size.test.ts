import { brotliDecompressSync, gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { assets } from "../src/index.ts"

const textOf = (path: string): string =>
  brotliDecompressSync(Buffer.from(assets.find((asset) => asset.path === path)!.brotli, "base64")).toString()

const gzipBytes = (paths: ReadonlyArray<string>): number =>
  paths.reduce((sum, path) => sum + gzipSync(textOf(path), { level: 9 }).length, 0)

const scripts = assets.map(({ path }) => path).filter((path) => path.endsWith(".js"))

/** The scripts that the page loads, and what they import at once. */
const atFirst = (): ReadonlyArray<string> => {
  const found = new Set(Array.from(textOf("index.html").matchAll(/assets\/[\w.-]+\.js/g), ([path]) => path))
  for (const path of found) {
    for (const [, name] of textOf(path).matchAll(/(?:^|[;}\n])import[^("']*["']\.\/([\w.-]+\.js)["']/g)) {
      found.add(`assets/${name}`)
    }
  }
  return Array.from(found)
}

/**
 * Of all scripts (bytes): what an installation has of them, of which a person loads those of the pages that they open, each once. It was 120 kB
 * before the timeline of steps, the documentation, the ways to record, the help beside titles, failures, two sessions beside each other, and
 * erasing many. A page more costs 1 to 5 kB.
 */
const maxBytes = 158_000

describe("the pages", () => {
  it("have at most 45 kB of scripts at first, and 158 kB in all, gzipped", () => {
    expect(atFirst().length).toBeGreaterThan(0)
    expect(gzipBytes(atFirst())).toBeGreaterThan(5_000)
    expect(gzipBytes(atFirst())).toBeLessThan(45_000)
    expect(gzipBytes(scripts)).toBeLessThan(maxBytes)
  })

  it("name nothing elsewhere that a browser would load", () => {
    for (const { path } of assets) {
      expect([
        path,
        textOf(path).match(/(?:src|href)=["']?(?:https?:)?\/\/|url\(["']?(?:https?:)?\/\/|@import/g)
      ]).toEqual([path, null])
    }
  })
})
