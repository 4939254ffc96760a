/** What the recorder prints. */
import * as Cause from "./delivery/Cause.ts"
import type { Counters, Drop } from "./delivery/Counters.ts"

/** What an option is called where the user gives it. */
export type NameOf = (option: string) => string

/** Prints what has happened, once for each `key`, and where to look. */
export type Warn = (what: string, cause?: unknown, where?: string, key?: string) => void

/** Without code there is no recorder that could be asked. */
export const make = (hasRecorder: boolean): Warn => {
  const seen = new Set<string>()
  return (what, cause, where = "See recorder.counters().problem.", key = what) => {
    if (seen.has(key)) return
    seen.add(key)
    const because = cause instanceof Error ? `: ${Cause.inWords(cause)}` : ""
    console.warn(`Tachograph: ${what}${because}.${hasRecorder && where !== "" ? ` ${where}` : ""}`)
  }
}

/** The first for each reason. What an application leaves out on purpose does not hide that its `redact` fails. */
export const ofDrops =
  (warn: Warn) =>
  ({ cause, reason }: Drop): void =>
    warn(
      `a call is not recorded (${reason})`,
      cause,
      "See recorder.counters() for how many.",
      reason === "redacted" ? String(cause) : reason
    )

/** How many calls were lost in all, where that is more than the warnings have told. */
export const sayLost = (warn: Warn, dropped: Counters["dropped"]): void => {
  const counts = Object.entries(dropped)
  if (counts.every(([, count]) => count === 1)) return
  warn(`calls that are not recorded: ${counts.map(([reason, count]) => `${count} (${reason})`).join(", ")}`)
}
