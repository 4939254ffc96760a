/** Runs the commands that the README prints. */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { runInProcess, startServer, workIn } from "./CommandLine.ts"
import { temporaryFolder } from "./TachographProcess.ts"

const file = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")

const blocks = (language: string) =>
  Array.from(file("README.md").matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms")), (match) => match[1]!)

describe("README.md", () => {
  it("has curl commands that work as printed", async () => {
    const key = "a key for the README's lines"
    const server = await startServer(["--storage", "memory:"], { TACHOGRAPH_API_KEY: key })
    const lines = blocks("sh").find((block) => block.includes("curl"))!
    expect(lines).toContain("http://127.0.0.1:4400")
    const { stderr, stdout } = await promisify(execFile)(
      "bash",
      ["-euo", "pipefail", "-c", lines.replaceAll("http://127.0.0.1:4400", server.url)],
      // A start-up file of the machine's own may print.
      { env: { ...process.env, BASH_ENV: "", TACHOGRAPH_API_KEY: key } }
    )
    expect(stderr).toBe("")
    const output = `{"role": "assistant", "content": [{"type": "text", "text": "Hi!"}], "temperature": 1.0}`
    expect(stdout).toContain(`"output":${output}}`)
    expect(stdout).toContain(`"session":"session-1"`)
    expect(stdout.match(/"event_id"/g)).toHaveLength(2)
  })

  it("has key commands that work as printed", async () => {
    workIn(temporaryFolder())
    const commands = blocks("sh")
      .find((block) => block.includes("keys create"))!
      .trim()
      .split("\n")
    const args = commands.map((line) => line.replace("npm run --silent tachograph -- ", "").split(" "))
    expect(args).toHaveLength(3)
    // As after the first start of the server.
    await runInProcess(["migrate"])
    const created = await runInProcess(args[0]!)
    const [id] = /key_\w+/.exec(created.stderr)!
    expect((await runInProcess(args[1]!)).stdout).toContain(id)
    expect((await runInProcess([...args[2]!.slice(0, -1), id])).code).toBe(0)
  })

  it("prints the program of examples/embed-node", () => {
    expect(blocks("ts")).toEqual([file("examples/embed-node/src/main.ts")])
  })
})
