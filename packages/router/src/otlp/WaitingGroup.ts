/** What the parts of a group tell. */
import { assemble, type Call, type Link } from "@tachograph/capture/spans/Assemble"
import type { LogRecord, Span } from "@tachograph/capture/spans/Span"
import type { WaitingPart } from "@tachograph/core"
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
  const erasures: Array<{ readonly erased: Parts.Erased; readonly at: number }> = []
  for (const part of parts) {
    const erased = Parts.erasedIn(part)
    if (erased !== undefined) {
      erasures.push({ erased, at: part.since })
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
    const later = erasures.filter(({ at }) => since <= at)
    return later.length === 0 ? undefined : (names) => later.some(({ erased }) => isOf(erased)(names))
  }
  const told = { spans, logs: Array.from(byLog.keys()), links, contexts }
  return { assembled: assemble(told), partsOf, isErased }
}

export const isOf =
  (erased: Parts.Erased): IsErased =>
  ({ person, session }) =>
    "session" in erased ? session === erased.session : person === erased.person
