import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

/** A path for a database, in a folder of its own that is removed when the test file ends. */
export const temporaryFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-"))
  folders.push(folder)
  return join(folder, "test.db")
}

const folders: Array<string> = []

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
