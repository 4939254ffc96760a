/** What the parts of a group tell. */
import { assemble, type Call, type Link } from "@tachograph/capture/spans/Assemble"
import { groupOf } from "@tachograph/capture/spans/Groups"
import type { LogRecord, Span } from "@tachograph/capture/spans/Span"
import type { WaitingPart } from "@tachograph/core"
import * as CallBody from "./CallBody.ts"
import * as Parts from "./Parts.ts"
import type { IsErased } from "./RecordCalls.ts"

type Told = Pick<Call, "logs" | "spans">

/** Undefined for a part that damage keeps from being read. */
const toldIn = (part: WaitingPart) => {
  try {
    return Parts.toldIn(part)
  } catch {
    return undefined
  }
}

/** What is told of a group, the parts that told it, and those that are damaged. */
export const read = (parts: ReadonlyArray<WaitingPart>) => {
  const spans: Array<Span> = []
  const contexts: Array<Span> = []
  const links: Array<Link> = []
  const bySpan = new Map<string, Array<WaitingPart>>()
  const logs: Array<{ readonly log: LogRecord; readonly order: number; readonly part: WaitingPart }> = []
  const unreadable: Array<WaitingPart> = []
  const erasures: Array<NonNullable<ReturnType<typeof Parts.erasedIn>>> = []
  for (const part of parts) {
    const erased = Parts.erasedIn(part)
    if (erased !== undefined) {
      erasures.push(erased)
      continue
    }
    const read = toldIn(part)
    if (read === undefined) {
      unreadable.push(part)
      continue
    }
    const { order, told } = read
    if ("link" in told) links.push(told.link)
    else if ("context" in told) contexts.push(told.context)
    else if ("log" in told) logs.push({ log: told.log, order, part })
    else {
      spans.push(told.span)
      bySpan.set(told.span.spanId, bySpan.get(told.span.spanId) ?? [])
      bySpan.get(told.span.spanId)!.push(part)
    }
  }
  logs.sort((one, other) => one.log.timeMs - other.log.timeMs || one.order - other.order)
  const byLog = new Map(logs.map(({ log, part }) => [log, part]))
  const partsOf = ({ logs, spans }: Told): ReadonlyArray<WaitingPart> => [
    ...spans.flatMap(({ spanId }) => bySpan.get(spanId) ?? []),
    ...logs.map((log) => byLog.get(log)!)
  ]
  /** What came before an erasure is erased too, as soon as it is known whose it is. */
  const isErased = (told: Told): IsErased | undefined => {
    const since = partsOf(told).reduce((earliest, part) => Math.min(earliest, part.since), Number.POSITIVE_INFINITY)
    const later = new Set(erasures.filter(({ at }) => since <= at).map(({ name }) => name))
    const has = (erased: Parts.Erased) => later.has(Parts.nameOfErased(erased))
    return later.size === 0
      ? undefined
      : ({ person, session }) =>
          (session !== undefined && has({ session })) || (person !== undefined && has({ person }))
  }
  const told = { spans, logs: Array.from(byLog.keys()), links, contexts }
  return { assembled: assemble(told), partsOf, isErased, unreadable }
}

/** The parts that only say whose others are, and say so of what is erased. */
export const contextsOf = (parts: ReadonlyArray<WaitingPart>, erased: Parts.Erased): ReadonlyArray<WaitingPart> =>
  parts.filter((part) => {
    const told = part.part.startsWith(Parts.contextHead) ? toldIn(part)?.told : undefined
    return (
      told !== undefined && "context" in told && isOf(erased)(CallBody.namesOf({ group: groupOf(told.context, []) }))
    )
  })

export const isOf =
  (erased: Parts.Erased): IsErased =>
  ({ person, session }) =>
    "session" in erased ? session === erased.session : person === erased.person
