/** Streams through the proxy that are open when the server is told to end, over SQLite. */
import { join } from "node:path"
import { it } from "vitest"
import { expectRecorded } from "../OpenStreams.ts"
import { temporaryFolder } from "../TachographProcess.ts"

it.concurrent.each(["yes", "no"])("are recorded as far as they came, with --thread %s", (thread) =>
  expectRecorded(`sqlite:${join(temporaryFolder(), "tachograph.db")}`, ["--thread", thread])
)
