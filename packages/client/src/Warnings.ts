/** What the recorder prints. */
import type { Drop, DropReason } from "./delivery/Counters.ts"

/** With the cause of a cause: `fetch` says only that it failed. */
const whyOf = (cause: unknown): string =>
  cause instanceof Error ? `: ${[cause.message || cause.name, whyOf(cause.cause)].join("")}` : ""

/** Prints the first drop for each reason. */
export const ofDrops = () => {
  const seen = new Set<DropReason>()
  return ({ cause, reason }: Drop) => {
    if (seen.has(reason)) return
    seen.add(reason)
    console.warn(`Tachograph: a call is not recorded (${reason})${whyOf(cause)}. See recorder.counters() for how many.`)
  }
}

/** Once. */
export const that = (what: string) => {
  let hasWarned = false
  return (cause: unknown) => {
    if (hasWarned) return
    hasWarned = true
    console.warn(`Tachograph: ${what}${whyOf(cause)}. See recorder.counters().problem.`)
  }
}
