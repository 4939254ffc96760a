/** Calls that were put together from what OpenTelemetry told: a rebuilt one is not taken for a verbatim one. */
import type { EventSummary } from "@tachograph/client/api"
import * as Table from "./Table.ts"

type Told = Pick<EventSummary, "recorded">

export const isRebuilt = (call: Told): boolean => call.recorded?.["rebuilt"] === true

/** `rebuilt, not the bytes of the wire: scope gen_ai 1, service weather`. No line where the call is verbatim. */
export const linesOf = (call: Told): ReadonlyArray<string> => {
  if (!isRebuilt(call)) return []
  // Other programs may have recorded other things.
  const otlp = Object(call.recorded?.["otlp"]) as Readonly<Record<string, unknown>>
  const named = (name: string, ...fields: ReadonlyArray<string>) => {
    const texts = fields.map((field) => otlp[field]).filter((text) => typeof text === "string")
    return texts.length === 0 ? [] : [`${name} ${texts.join(" ")}`]
  }
  const { dropped, verbatim } = otlp
  const facts = [
    ...named("scope", "scope", "scope_version"),
    ...named("service", "service"),
    ...named("span", "span"),
    ...(Array.isArray(verbatim) ? [`${verbatim.join(" and ")} verbatim`] : []),
    ...(typeof dropped === "number" ? [`attributes dropped: ${dropped}`] : [])
  ]
  const line = `rebuilt from OpenTelemetry, not the bytes of the wire${facts.length === 0 ? "" : `: ${facts.join(", ")}`}`
  return [Table.printable(line)]
}
