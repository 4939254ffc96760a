/** Runs the commands that the README prints. */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { run, serve, temporaryFolder } from "./TachographProcess.ts"

const file = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")

const blocks = (language: string) =>
  Array.from(file("README.md").matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms")), (match) => match[1]!)

describe("README.md", () => {
  it("has curl commands that work as printed", async () => {
    const key = "a key for the README's lines"
    const server = await serve(["--port", "0", "--storage", "memory:"], { env: { TACHOGRAPH_API_KEY: key } })
    const lines = blocks("sh").find((block) => block.includes("curl"))!
    expect(lines).toContain("http://127.0.0.1:4400")
    const { stderr, stdout } = await promisify(execFile)(
      "bash",
      ["-euo", "pipefail", "-c", lines.replaceAll("http://127.0.0.1:4400", server.url)],
      // A start-up file of the machine's own may print.
      { env: { ...process.env, BASH_ENV: "", TACHOGRAPH_API_KEY: key } }
    )
    await server.stop()
    expect(stderr).toBe("")
    const output = `{"role": "assistant", "content": [{"type": "text", "text": "Hi!"}], "temperature": 1.0}`
    expect(stdout).toContain(`"output":${output}}`)
    expect(stdout).toContain(`"session":"session-1"`)
    expect(stdout.match(/"event_id"/g)).toHaveLength(2)
  })

  it("has key commands that work as printed", async () => {
    const cwd = temporaryFolder()
    const commands = blocks("sh")
      .find((block) => block.includes("keys create"))!
      .trim()
      .split("\n")
    const args = commands.map((line) => line.replace("npm run --silent tachograph -- ", "").split(" "))
    expect(args).toHaveLength(3)
    // As after the first start of the server.
    await run(["migrate"], { cwd })
    const created = await run(args[0]!, { cwd })
    const [id] = /key_\w+/.exec(created.stderr)!
    expect((await run(args[1]!, { cwd })).stdout).toContain(id)
    expect((await run([...args[2]!.slice(0, -1), id], { cwd })).code).toBe(0)
  })

  it("prints the program of examples/embed-node", () => {
    expect(blocks("ts")).toEqual([file("examples/embed-node/src/main.ts")])
  })
})
