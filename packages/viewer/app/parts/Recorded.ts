/** What was said of an event or a step by what recorded it. Other programs may have recorded other things. */
import type { EventSummary } from "../server/Types.ts"

export type Told = Pick<EventSummary, "recorded">

/** What is said of the span that it was made of. */
export const otlpOf = (of: Told): Readonly<Record<string, unknown>> | undefined => {
  const otlp = of.recorded?.["otlp"]
  return typeof otlp === "object" && otlp !== null ? (otlp as Readonly<Record<string, unknown>>) : undefined
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

export const isRebuilt = (of: Told): boolean => of.recorded?.["rebuilt"] === true

/** Texts of a list: which bodies are verbatim, which attributes were cut. */
export const listIn = (of: Told, field: "cut" | "verbatim"): ReadonlyArray<string> => {
  const list = otlpOf(of)?.[field]
  return Array.isArray(list) ? list.filter((each) => typeof each === "string") : []
}
