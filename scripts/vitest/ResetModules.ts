/**
 * Runs before each test file. Workers are shared by all files, so that dependencies are loaded once per worker; this makes
 * each file evaluate the modules of the tree again, and with them their hooks and module state.
 */
import { vi } from "vitest"

vi.resetModules()
