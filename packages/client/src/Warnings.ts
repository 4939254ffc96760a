/** What the recorder prints. */
import * as Cause from "./delivery/Cause.ts"
import type { Drop, DropReason } from "./delivery/Counters.ts"

const because = (cause: unknown): string => (cause instanceof Error ? `: ${Cause.inWords(cause)}` : "")

/** Prints the first drop for each reason. */
export const ofDrops = () => {
  const seen = new Set<DropReason>()
  return ({ cause, reason }: Drop) => {
    if (seen.has(reason)) return
    seen.add(reason)
    console.warn(
      `Tachograph: a call is not recorded (${reason})${because(cause)}. See recorder.counters() for how many.`
    )
  }
}

/** Once. */
export const that = (what: string, where = "See recorder.counters().problem.") => {
  let hasWarned = false
  return (cause: unknown) => {
    if (hasWarned) return
    hasWarned = true
    console.warn(`Tachograph: ${what}${because(cause)}. ${where}`)
  }
}
