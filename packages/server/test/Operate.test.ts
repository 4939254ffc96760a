/** `docs/operate.md` says of each line that the log may print what to do. */
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../../../", import.meta.url))

/** Of an embedding only, or of a line whose words are elsewhere. */
const notOfTheServer = ["authorize did not answer within"]

/** The fixed words of a message: what stands between the values of a template. */
const wordsOf = (message: string): ReadonlyArray<string> =>
  message
    .split(/\$\{.*?\}|\$\{.*$/)
    .map((part) => part.trim())
    .filter((part) => part.length > 8)

describe("docs/operate.md", () => {
  it("has each line that the log may print", () => {
    const page = readFileSync(`${root}docs/operate.md`, "utf8").split("## What the log says")[1]!
    const files = globSync("packages/{core,router,server,storage-*}/src/**/*.ts", { cwd: root })
    const messages = files.flatMap((file) =>
      Array.from(
        readFileSync(root + file, "utf8").matchAll(/\blog(?:Info|Warning|Error)\(\s*(["`])(.*?)\1/g),
        (match) => match[2]!
      )
    )
    expect(messages.length).toBeGreaterThan(20)
    const missing = messages.flatMap(wordsOf).filter((words) => !page.includes(words))
    expect(missing.filter((words) => !notOfTheServer.includes(words))).toEqual([])
  })
})
