/**
 * The backups of a server: `tachograph backup` in a process of its own, with less priority, so that neither the copy nor its check takes
 * time or memory of those that record.
 */
import { ObservableMetrics } from "@tachograph/core"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { spawn } from "node:child_process"
import { setPriority } from "node:os"
import { join } from "node:path"
import { statSync } from "node:fs"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Files from "./Files.ts"

export interface Options {
  readonly folder: string
  readonly every: Duration.Duration
  /** How many backups are kept. */
  readonly keep: number
}

/** When a failed backup is tried again, unless the next one is due before. */
const retryAfter = Duration.hours(1)

/** After the start, which has other work. */
const pauseAtStart = Duration.seconds(1)

/** Of `nice`: others go first. */
const lowPriority = 5

const made = Metric.counter("tachograph_backups_total", {
  description: "Backups made, checked and kept",
  incremental: true
})

const failed = Metric.counter("tachograph_backup_failures_total", {
  description: "Backups that could not be made, or that were found damaged",
  incremental: true
})

const lastTime = Metric.gauge("tachograph_backup_last_timestamp_seconds", {
  description: "When the last backup began, in seconds since 1970; 0 if there is none"
})

/** Fails if there is no such folder. */
export const check = ({ folder }: Options): Effect.Effect<void, CommandError> =>
  Effect.suspend(() =>
    statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
      ? Effect.void
      : Effect.fail(new CommandError({ message: `The folder of --backup does not exist: ${folder}. Make it first` }))
  )

/** Runs the command in a process of its own, which ends with the fiber. */
const runCommand = (path: string, file: string): Effect.Effect<void, CommandError> =>
  Effect.callback((resume) => {
    const args = [...process.execArgv, process.argv[1]!, "backup", path, "--storage", `sqlite:${file}`]
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] })
    let errors = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors = (errors + text).slice(-4_096)))
    const fail = (reason: string) => resume(Effect.fail(new CommandError({ message: reason })))
    child.once("spawn", () => setPriority(child.pid!, lowPriority))
    child.once("error", (error) => fail(error.message))
    const ended = new Promise<void>((resolve) =>
      child.once("close", (code, signal) => {
        const last = errors.trim().split("\n").at(-1)
        if (code === 0) resume(Effect.void)
        else fail(last || `the process ended with ${signal ?? code}`)
        resolve()
      })
    )
    return Effect.promise(() => {
      child.kill("SIGTERM")
      return ended
    })
  })

/** Makes backups of `file` in the background, until the scope is closed. */
export const start = Effect.fnUntraced(function* ({ every, folder, keep }: Options, file: string) {
  const counts = { made: 0, failed: 0 }
  // Also before this start, so that a server that starts often makes them, too.
  let lastMs = Files.lastOwn(folder)
  yield* ObservableMetrics.show(
    ObservableMetrics.of(made, () => ({ count: counts.made, incremental: true })),
    ObservableMetrics.of(failed, () => ({ count: counts.failed, incremental: true })),
    ObservableMetrics.of(lastTime, () => ({ value: (lastMs ?? 0) / 1_000 }))
  )
  const once = Effect.gen(function* () {
    const startMs = yield* Clock.currentTimeMillis
    yield* runCommand(join(folder, Files.nameAt(startMs)), file)
    counts.made++
    lastMs = startMs
  }).pipe(
    Effect.as(every),
    Effect.catch(({ message }) => {
      counts.failed++
      const retry = Duration.min(every, retryAfter)
      return Effect.as(Effect.logError(`The backup failed: ${message.replace(/^tachograph: /, "")}`), retry)
    }),
    Effect.tap(() =>
      Effect.try(() => Files.rotate(folder, keep)).pipe(
        Effect.catch((error) => Effect.logError("Old backups could not be removed", error))
      )
    )
  )
  const nowMs = yield* Clock.currentTimeMillis
  const due = lastMs === undefined ? Duration.zero : Duration.millis(lastMs + Duration.toMillis(every) - nowMs)
  yield* Effect.sleep(Duration.max(due, pauseAtStart)).pipe(
    Effect.andThen(Effect.forever(Effect.flatMap(once, Effect.sleep))),
    Effect.forkScoped
  )
})
