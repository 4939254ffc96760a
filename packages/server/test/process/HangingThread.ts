/** A process whose thread runs a script, and which ends its threads on SIGUSR2. */
import { Worker } from "node:worker_threads"
import * as Threads from "../../src/process/Threads.ts"

const [script = ""] = process.argv.slice(2)
process.on("SIGUSR2", () => void Threads.end(() => process.exit(3)))
Threads.watch()
new Worker(script, { eval: true })
