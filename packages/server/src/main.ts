import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"
import { run } from "./Cli.ts"
import * as Signals from "./process/Signals.ts"
import * as Threads from "./process/Threads.ts"
import * as Worker from "./workers/Worker.ts"

Threads.watch()

if (Worker.assignment === undefined) {
  Signals.watch(() => void Threads.end(() => process.exit(1)))
  // SIGHUP restarts the workers. Without workers, or when a terminal closes, it shuts down.
  process.on("SIGHUP", () => {
    if (process.listenerCount("SIGHUP") === 1) process.kill(process.pid, "SIGTERM")
  })
} else {
  // A terminal sends its signals to the primary and the workers. The primary decides what they mean; a worker without a
  // primary exits at once.
  process.on("SIGHUP", () => {})
}

run(process.argv.slice(2)).pipe(
  Signals.runMain({
    // A shutdown by signal is not a failure: exit 0, unless the command has set another code.
    teardown: (exit, onExit) => {
      const end = (code: number) => void Threads.end(() => onExit(code))
      if (Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) end(Number(process.exitCode ?? 0))
      else Runtime.defaultTeardown(exit, end)
    }
  })
)
