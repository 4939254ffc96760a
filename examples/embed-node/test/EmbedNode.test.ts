/** Runs the example's programs as separate processes. */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it, onTestFinished } from "vitest"
import * as Embedded from "../../test/Embedded.ts"

const program = (name: string) => new URL(`../src/${name}.ts`, import.meta.url)
const hello = "Hello from my own server\n"

Embedded.suite({ program: program("main"), base: "", hello, none: { status: 200, text: hello } }, (app) => {
  it("answers unknown paths below /api/v1 itself", async () => {
    expect(await app().call("/api/v1/anything-else", Embedded.key)).toEqual({ status: 200, text: hello })
  })
})

it("records, adds up and erases in process, and prints the errors of an invalid event", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "tachograph-"))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(program("record"))], { cwd })
  const [event, usage, erased, ...errors] = stdout.trimEnd().split("\n")
  expect(event).toContain(`"inputs":{"model":"m","messages":[{"role":"user","content":"Hello"}]},"output":{`)
  expect([usage, erased]).toEqual(["m: 2 calls, 1 failed", "erased: 1 calls"])
  expect(errors).toEqual(["properties", "fingerprint_id", "session"].map((name) => `body.${name}: Field required`))
})
