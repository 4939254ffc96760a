/**
 * Runs before each test file: has what its helpers open closed after it, and puts the platform's classes back. A worker keeps the
 * modules of the tree between its files, so that it evaluates and optimizes them once.
 */
import { afterAll } from "vitest"
import { closeAll } from "./AfterFile.ts"

// Vitest calls no hook after a file that it could not load, or of which it left all tests out.
await closeAll()
afterAll(closeAll)

/** Hono's server puts classes of its own over the platform's; other files of the same worker test with those of the platform. */
const platform = Symbol.for("tachograph/scripts/platform")

type Kept = { [platform]?: Pick<typeof globalThis, "Request" | "Response"> }

const kept = globalThis as Kept
kept[platform] ??= { Request: globalThis.Request, Response: globalThis.Response }
for (const [name, value] of Object.entries(kept[platform])) {
  Object.defineProperty(globalThis, name, { value, configurable: true, enumerable: false, writable: true })
}
