/**
 * Runs before each test file. Workers are shared by all files, so that dependencies are loaded once per worker; this makes
 * each file evaluate the modules of the tree again, and with them their hooks and module state.
 */
import { vi } from "vitest"

vi.resetModules()

/** Hono's server puts classes of its own over the platform's; other files of the same worker test with those of the platform. */
const platform = Symbol.for("tachograph/scripts/platform")

type Kept = { [platform]?: Pick<typeof globalThis, "Request" | "Response"> }

const kept = globalThis as Kept
kept[platform] ??= { Request: globalThis.Request, Response: globalThis.Response }
for (const [name, value] of Object.entries(kept[platform])) {
  Object.defineProperty(globalThis, name, { value, configurable: true, enumerable: false, writable: true })
}
