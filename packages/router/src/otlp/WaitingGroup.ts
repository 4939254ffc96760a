/** What the parts of a group tell. */
import { assemble, type Call, type Link } from "@tachograph/capture/spans/Assemble"
import { groupOf } from "@tachograph/capture/spans/Groups"
import type { LogRecord, Span } from "@tachograph/capture/spans/Span"
import type { WaitingPart } from "@tachograph/core"
import * as CallBody from "./CallBody.ts"
import * as Parts from "./Parts.ts"
import type { IsErased } from "./RecordCalls.ts"

type Told = Pick<Call, "logs" | "spans">

/** What is told of a group, and the parts that told it. */
export const read = (parts: ReadonlyArray<WaitingPart>) => {
  const spans: Array<Span> = []
  const contexts: Array<Span> = []
  const links: Array<Link> = []
  const bySpan = new Map<string, Array<WaitingPart>>()
  const byLog = new Map<LogRecord, WaitingPart>()
  const erasures: Array<NonNullable<ReturnType<typeof Parts.erasedIn>>> = []
  for (const part of parts) {
    const erased = Parts.erasedIn(part)
    if (erased !== undefined) {
      erasures.push(erased)
      continue
    }
    const told = Parts.toldIn(part)
    if ("link" in told) links.push(told.link)
    else if ("context" in told) contexts.push(told.context)
    else if ("log" in told) byLog.set(told.log, part)
    else {
      spans.push(told.span)
      bySpan.set(told.span.spanId, bySpan.get(told.span.spanId) ?? [])
      bySpan.get(told.span.spanId)!.push(part)
    }
  }
  const partsOf = ({ logs, spans }: Told): ReadonlyArray<WaitingPart> => [
    ...spans.flatMap(({ spanId }) => bySpan.get(spanId) ?? []),
    ...logs.map((log) => byLog.get(log)!)
  ]
  /** What came before an erasure is erased too, as soon as it is known whose it is. */
  const isErased = (told: Told): IsErased | undefined => {
    const since = partsOf(told).reduce((latest, part) => Math.max(latest, part.since), 0)
    const later = new Set(erasures.filter(({ at }) => since <= at).map(({ name }) => name))
    const has = (erased: Parts.Erased) => later.has(Parts.nameOfErased(erased))
    return later.size === 0
      ? undefined
      : ({ person, session }) =>
          (session !== undefined && has({ session })) || (person !== undefined && has({ person }))
  }
  const told = { spans, logs: Array.from(byLog.keys()), links, contexts }
  return { assembled: assemble(told), partsOf, isErased }
}

/** The parts that only say whose others are, and say so of what is erased. */
export const contextsOf = (parts: ReadonlyArray<WaitingPart>, erased: Parts.Erased): ReadonlyArray<WaitingPart> =>
  parts.filter((part) => {
    const told = part.part.startsWith(Parts.contextHead) ? Parts.toldIn(part) : undefined
    return (
      told !== undefined && "context" in told && isOf(erased)(CallBody.namesOf({ group: groupOf(told.context, []) }))
    )
  })

export const isOf =
  (erased: Parts.Erased): IsErased =>
  ({ person, session }) =>
    "session" in erased ? session === erased.session : person === erased.person
