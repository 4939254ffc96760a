/** What the recorder prints. */
import * as Cause from "./delivery/Cause.ts"
import type { Counters, Drop, DropReason } from "./delivery/Counters.ts"

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

/** Reasons whose causes are mistakes of the application, of which one must not hide the others. */
const toldByCause: ReadonlySet<DropReason> = new Set(["redacted", "unreadable"])

/** What the reason of a call that has no cause means for the application. */
const meanings: Partial<Record<DropReason, Error>> = {
  exit: new Error("the process ended before it was sent")
}

/** The first for each reason, or cause. What `redact` leaves out on purpose is not told. */
export const ofDrops =
  (warn: Warn) =>
  ({ cause, reason }: Drop): void => {
    if (reason === "redacted" && cause === undefined) return
    const key = toldByCause.has(reason) ? `${reason}: ${String(cause)}` : reason
    warn(`a call is not recorded (${reason})`, cause ?? meanings[reason], "See recorder.counters() for how many.", key)
  }

/** How many calls were lost in all, where that is more than the warnings have told. */
export const sayLost = (warn: Warn, dropped: Counters["dropped"]): void => {
  const counts = Object.entries(dropped)
  if (counts.every(([, count]) => count === 1)) return
  warn(`calls that are not recorded: ${counts.map(([reason, count]) => `${count} (${reason})`).join(", ")}`)
}
