import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterFile } from "../../../scripts/vitest/AfterFile.ts"

/** A path for a database, in a folder of its own that is removed when the test file ends. */
export const temporaryFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-"))
  afterFile(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, "test.db")
}
