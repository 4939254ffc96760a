/** Packages that only a benchmark needs, and that are too large to install for everybody. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Installs packages from the npm registry into a new folder, which is deleted when this process exits. Runs no script of theirs. */
export const install = (...packages: ReadonlyArray<string>): string => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-packages-"))
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts"]
  execFileSync("npm", ["install", "--prefix", folder, ...flags, ...packages], { stdio: "pipe" })
  return folder
}
