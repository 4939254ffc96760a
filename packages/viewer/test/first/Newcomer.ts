/** What a person does with the text that the page has copied: the shell and the programs are real, the packages those of this tree. */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { onTestFinished } from "vitest"

const packages = fileURLToPath(new URL("../../../", import.meta.url))

/** Where a program finds the packages that it imports. */
const installed: Readonly<Record<string, string>> = {
  "@anthropic-ai/sdk": "client/node_modules/@anthropic-ai/sdk",
  "@tachograph/client": "client",
  openai: "client/node_modules/openai"
}

/** A folder of a project with these files, until the test ends. */
export const project = (files: Readonly<Record<string, string>>): string => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-first-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, path] of Object.entries(installed)) {
    const link = join(folder, "node_modules", name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(realpathSync(join(packages, path)), link)
  }
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o755 })
  return folder
}

/** Runs what is typed into a shell. Resolves with what it prints. */
export const type = async (folder: string, text: string, env: Readonly<Record<string, string>>): Promise<string> => {
  const own = { HOME: folder, PATH: `${folder}:${dirname(process.execPath)}:${process.env["PATH"]}` }
  const { stdout } = await promisify(execFile)("sh", ["-eu", "-c", text], { cwd: folder, env: { ...own, ...env } })
  return stdout
}

/** The example whose exporter is OpenTelemetry's own. */
export const emitter = fileURLToPath(new URL("../../../../examples/opentelemetry/src/agent.ts", import.meta.url))
