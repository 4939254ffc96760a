#!/usr/bin/env node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Effect, Exit, Runtime } from "effect"
import { run } from "./Cli.ts"
import * as Worker from "./workers/Worker.ts"

if (Worker.assignment === undefined) {
  // The first signal ends cleanly; a second one means now.
  let signals = 0
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (++signals > 1) process.exit(1)
    })
  }
  // Where it renews no workers, it ends them: so says a terminal that it closes.
  process.on("SIGHUP", () => {
    if (process.listenerCount("SIGHUP") === 1) process.kill(process.pid, "SIGTERM")
  })
} else {
  // A terminal's signals come to the primary and to its workers: it is for the primary to say what they mean. Without a
  // primary, a worker ends at once.
  process.on("SIGHUP", () => {})
}

run(process.argv.slice(2)).pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({
    // A signal is how a server ends, not how it fails.
    teardown: (exit, onExit) =>
      Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit)
  })
)
