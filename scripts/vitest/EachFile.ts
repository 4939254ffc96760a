/**
 * Runs before each test file. A worker runs many files and keeps the modules of the tree between them, so that they are evaluated, and
 * compiled by the JIT, once per worker.
 */
import { afterAll } from "vitest"
import { closeAll } from "./AfterFile.ts"

afterAll(closeAll)

/** Hono's server puts classes of its own over the platform's; other files of the same worker test with those of the platform. */
const platform = Symbol.for("tachograph/scripts/platform")

type Kept = { [platform]?: Pick<typeof globalThis, "Request" | "Response"> }

const kept = globalThis as Kept
kept[platform] ??= { Request: globalThis.Request, Response: globalThis.Response }
for (const [name, value] of Object.entries(kept[platform])) {
  Object.defineProperty(globalThis, name, { value, configurable: true, enumerable: false, writable: true })
}
