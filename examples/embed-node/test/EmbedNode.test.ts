/** The example's programs as processes of their own. */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it, onTestFinished } from "vitest"
import * as Embedded from "../../test/Embedded.ts"
import { run } from "../../test/Program.ts"

const program = (name: string) => new URL(`../src/${name}.ts`, import.meta.url)
const hello = "Hello from my own server\n"

Embedded.suite({ program: program("main"), base: "", hello, none: { status: 200, text: hello } })

it("leaves to the server what only begins as Tachograph's paths do", async () => {
  const app = await run(program("main"), { TACHOGRAPH_API_KEY: Embedded.key })
  expect(await app.call("/api/v1/anything-else", Embedded.key)).toEqual({ status: 200, text: hello })
})

it("records in process, and says what cannot be recorded", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "tachograph-"))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(program("record"))], { cwd })
  const [event, ...complaints] = stdout.trimEnd().split("\n")
  expect(event).toContain(`"inputs":{"model":"m","messages":[{"role":"user","content":"Hello"}]},"output":{`)
  expect(complaints).toEqual(["properties", "fingerprint_id", "session"].map((name) => `body.${name}: Field required`))
})
