/** Logs go to standard error: formatted on a terminal, otherwise one JSON object per line. Standard output is for results. */
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Setting from "./Setting.ts"

const levels: ReadonlyMap<string, LogLevel.LogLevel> = new Map([
  ["debug", "Debug"],
  ["info", "Info"],
  ["warn", "Warn"],
  ["error", "Error"],
  ["none", "None"]
])

export const setting = Setting.make({
  name: "log-level",
  metavar: "LEVEL",
  description: "The lowest severity that is logged",
  default: "info",
  expected: Array.from(levels.keys()).join(", "),
  parse: (text) => Option.fromNullishOr(levels.get(text.toLowerCase()))
})

const logger = process.stderr.isTTY ? Logger.consolePretty() : Logger.withConsoleError(Logger.formatJson)

/** `worker` is this worker's number, if there are several processes. */
export const layer = (level: LogLevel.LogLevel, worker?: number): Layer.Layer<never> =>
  Layer.mergeAll(
    Logger.layer([logger]),
    Layer.succeed(Logger.LogToStderr, true),
    Layer.succeed(References.MinimumLogLevel, level),
    worker === undefined ? Layer.empty : Layer.succeed(References.CurrentLogAnnotations, { worker })
  )
