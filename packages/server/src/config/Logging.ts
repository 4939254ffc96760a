/** Logs go to standard error: pretty on a terminal, one JSON object a line otherwise. Standard output is for answers. */
import { Layer, Logger, type LogLevel, Option, References } from "effect"
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
  description: "The least severe messages that are logged",
  default: "info",
  expected: Array.from(levels.keys()).join(", "),
  parse: (text) => Option.fromNullishOr(levels.get(text.toLowerCase()))
})

const logger = process.stderr.isTTY ? Logger.consolePretty() : Logger.withConsoleError(Logger.formatJson)

/** `worker` is the number of the process, where there are several. */
export const layer = (level: LogLevel.LogLevel, worker?: number): Layer.Layer<never> =>
  Layer.mergeAll(
    Logger.layer([logger]),
    Layer.succeed(Logger.LogToStderr, true),
    Layer.succeed(References.MinimumLogLevel, level),
    worker === undefined ? Layer.empty : Layer.succeed(References.CurrentLogAnnotations, { worker })
  )
