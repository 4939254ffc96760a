/**
 * Makes calls and steps of the spans and log records of a trace, as far as these have come: whose each is, what others say of the same call, and
 * whether something that is still to come may say more. The result does not depend on the order in which they came.
 */
import {
  type Completion,
  completionOf,
  hasContent,
  hasWholeAnswer,
  isAnswer,
  isOfParent,
  isSelfSufficient,
  kindOf,
  type StepKind
} from "./Emitters.ts"
import { commonOf, type Group, groupOf } from "./Groups.ts"
import { bodiesOf, callsOfLogs } from "./LogCalls.ts"
import { messagesOf } from "./Messages.ts"
import type { Attributes, LogRecord, Span, Value } from "./Span.ts"

/** The way from a span to its parent, of spans that say nothing else. */
export type Link = Pick<Span, "traceId" | "spanId" | "parentSpanId">

export interface Told {
  readonly spans: ReadonlyArray<Span>
  readonly logs: ReadonlyArray<LogRecord>
  readonly links: ReadonlyArray<Link>
  /** Spans that were recorded already: of them it is only known whose their children are. */
  readonly contexts?: ReadonlyArray<Span>
}

interface Member {
  readonly span: Span
  readonly group: Group
  /** The spans and log records that tell it. Another span of the same call is none of its own. */
  readonly spans: ReadonlyArray<Span>
  readonly logs: ReadonlyArray<LogRecord>
  /** Whether nothing that comes later can say more. */
  readonly isComplete: boolean
}

export interface Call extends Member {
  /** Those that are known, from the nearest on. */
  readonly ancestors: ReadonlyArray<Span>
  /** What others say of the call, and the span does not. */
  readonly fill: Attributes
  /** Whether its messages are told, and not its counts alone. */
  readonly hasContent: boolean
}

export const byStart = (one: Member, other: Member): number => one.span.startMs - other.span.startMs

export interface Step extends Member {
  readonly kind: StepKind
}

export interface Assembled {
  readonly calls: ReadonlyArray<Call>
  readonly steps: ReadonlyArray<Step>
  /** Log records that belong to no call that is known. */
  readonly logs: ReadonlyArray<LogRecord>
}

/** Ancestors that are looked at: a chain may have a circle. */
const maxAncestors = 100

const idOf = ({ spanId, traceId }: Pick<Span, "spanId" | "traceId">): string => `${traceId} ${spanId}`

/** Several processors may export one span, each with attributes of its own: the richest one, with what only the others have. */
const merged = (spans: ReadonlyArray<Span>): Span => {
  if (spans.length === 1) return spans[0]!
  const byRichness = spans.toSorted((one, other) => one.attributes.size - other.attributes.size)
  return { ...byRichness.at(-1)!, attributes: new Map(byRichness.flatMap(({ attributes }) => Array.from(attributes))) }
}

/** By a key, in the order in which they came. */
const listsOf = <A>(pairs: Iterable<readonly [key: string, value: A]>): ReadonlyMap<string, Array<A>> => {
  const lists = new Map<string, Array<A>>()
  for (const [key, value] of pairs) {
    const list = lists.get(key)
    if (list === undefined) lists.set(key, [value])
    else list.push(value)
  }
  return lists
}

/** A span that is known, or only the way over it. */
interface Node {
  readonly span: Span | undefined
  readonly parentSpanId: string
}

class Trace {
  readonly spans: ReadonlyMap<string, Span>
  /** By the ids of their traces and spans. */
  readonly #nodes = new Map<string, Map<string, Node>>()
  readonly #common = new Map<string, Group>()

  constructor({ contexts = [], links, spans }: Told) {
    const lists = listsOf([...spans, ...contexts].map((span) => [idOf(span), span]))
    this.spans = new Map(Array.from(lists, ([id, list]) => [id, merged(list)]))
    for (const link of links) this.#add(link, undefined)
    for (const span of this.spans.values()) this.#add(span, span)
  }

  #add({ parentSpanId, spanId, traceId }: Link, span: Span | undefined): void {
    const nodes = this.#nodes.get(traceId) ?? new Map<string, Node>()
    this.#nodes.set(traceId, nodes)
    nodes.set(spanId, { span, parentSpanId })
  }

  /** What all spans of a trace have in common that say whose they are. */
  commonOf(traceId: string): Group {
    const known = this.#common.get(traceId)
    if (known !== undefined) return known
    const nodes = Array.from(this.#nodes.get(traceId)?.values() ?? [])
    const common = commonOf(nodes.flatMap(({ span }) => span ?? []))
    this.#common.set(traceId, common)
    return common
  }

  /** The known ancestors of a span, and whether the root is among them. */
  ancestorsOf({ parentSpanId, traceId }: Link): { readonly spans: ReadonlyArray<Span>; readonly isClosed: boolean } {
    const spans: Array<Span> = []
    const nodes = this.#nodes.get(traceId)
    for (let parent: string | undefined = parentSpanId, steps = 0; steps < maxAncestors; steps++) {
      if (parent === "") return { spans, isClosed: true }
      const node: Node | undefined = parent === undefined ? undefined : nodes?.get(parent)
      if (node === undefined) break
      if (node.span !== undefined) spans.push(node.span)
      parent = node.parentSpanId
    }
    return { spans, isClosed: false }
  }
}

const modelOf = ({ attributes }: Pick<Span, "attributes">): Value | undefined =>
  ["gen_ai.request.model", "llm.request.model_name", "llm.model_name", "model"]
    .map((key) => attributes.get(key))
    .find((model) => model !== undefined)

/** The part of the shorter one in which both ran. */
const overlapOf = (one: Span, other: Span): number => {
  const shorter = Math.min(one.endMs - one.startMs, other.endMs - other.startMs)
  const both = Math.min(one.endMs, other.endMs) - Math.max(one.startMs, other.startMs)
  if (shorter > 0) return both / shorter
  return both < 0 ? 0 : 1
}

/** How much of two spans of one call must be at the same time. */
const minOverlap = 0.9

/** Whether two spans may be of one call: they ran at the same time, for the same model, and different instrumentation made them. */
export const isTwin = (one: Span, other: Span): boolean =>
  one.scope.name !== other.scope.name && modelOf(one) === modelOf(other) && overlapOf(one, other) >= minOverlap

/** Calls of one parent that are compared with another call at most, and how many pairs are compared in all. */
const maxCompared = 200
const maxPairs = 500_000

/**
 * The SDK below may tell a call once more, without its messages: as a child, or as a sibling where the answer is a stream. Each call has at most
 * one twin, the one it shares most time with.
 */
const twinsOf = (calls: ReadonlyArray<Span>, wholes: ReadonlySet<Span>, trace: Trace): ReadonlyMap<Span, Span> => {
  const bares = calls.filter((call) => !wholes.has(call))
  const compared = Math.min(maxCompared, Math.ceil(maxPairs / bares.length))
  const byParent = listsOf(Array.from(wholes, (whole) => [`${whole.traceId} ${whole.parentSpanId}`, whole]))
  const pairs = bares.flatMap((bare) =>
    [
      ...(byParent.get(`${bare.traceId} ${bare.parentSpanId}`) ?? []).slice(0, compared),
      ...trace
        .ancestorsOf(bare)
        .spans.filter((span) => wholes.has(span))
        .slice(0, compared)
    ]
      .filter((whole) => isTwin(bare, whole))
      .map((whole) => ({ bare, whole, overlap: overlapOf(bare, whole) }))
  )
  const twins = new Map<Span, Span>()
  const told = new Set<Span>()
  for (const { bare, whole } of pairs.sort((one, other) => other.overlap - one.overlap)) {
    if (told.has(bare) || twins.has(whole)) continue
    twins.set(whole, bare)
    told.add(bare)
  }
  return twins
}

/** Attributes of others that a span does not have, of the first that has each. */
const fillOf = (span: Span, others: ReadonlyArray<Attributes>): Attributes => {
  const fill = new Map<string, Value>()
  for (const attributes of others) {
    for (const [key, value] of attributes) {
      if (!span.attributes.has(key) && !fill.has(key)) fill.set(key, value)
    }
  }
  return fill
}

const ofParent = ({ attributes }: Span): Attributes =>
  new Map(Array.from(attributes).filter(([key]) => isOfParent(key)))

/** How long after a span its log records may be written (ms). */
const maxLogDelayMs = 1_000

/** Calls of one model of one emitter, by their start, and until when any of those up to each lasted. */
interface Timeline {
  readonly spans: ReadonlyArray<Span>
  readonly ends: ReadonlyArray<number>
}

const timelineOf = (calls: ReadonlyArray<Span>): Timeline => {
  const spans = calls.toSorted((one, other) => one.startMs - other.startMs)
  let last = Number.NEGATIVE_INFINITY
  return { spans, ends: spans.map(({ endMs }) => (last = Math.max(last, endMs))) }
}

/** The only call at a time; undefined where there are none, or several. */
const onlyAt = ({ ends, spans }: Timeline, timeMs: number): Span | undefined => {
  let [from, to] = [0, spans.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (spans[middle]!.startMs <= timeMs) from = middle + 1
    else to = middle
  }
  let found: Span | undefined
  for (let at = from - 1; at >= 0 && ends[at]! + maxLogDelayMs >= timeMs; at--) {
    if (spans[at]!.endMs + maxLogDelayMs < timeMs) continue
    if (found !== undefined) return undefined
    found = spans[at]
  }
  return found
}

/** Finds the id of the span that a log record belongs to: where it names none, of the only call of its model at its time. */
const ownersOf = (calls: ReadonlyArray<Span>): ((log: LogRecord) => string) => {
  const timelines = new Map<string, Map<Value | undefined, Timeline>>()
  for (const [scope, ofScope] of Map.groupBy(calls, (span) => span.scope.name)) {
    const byModel = Array.from(Map.groupBy(ofScope, modelOf), ([model, spans]) => [model, timelineOf(spans)] as const)
    timelines.set(scope, new Map(byModel))
  }
  return (log) => {
    if (log.spanId !== "") return idOf(log)
    const timeline = timelines.get(log.scope.name)?.get(modelOf(log))
    const owner = timeline && onlyAt(timeline, log.timeMs)
    return owner === undefined ? "" : idOf(owner)
  }
}

interface Parts {
  readonly parent: Span | undefined
  readonly twin: Span | undefined
  readonly logs: ReadonlyArray<LogRecord>
}

const isCompleted = (span: Span, by: Completion | undefined, { logs, parent, twin }: Parts): boolean => {
  if (by === "parent") return parent !== undefined
  if (by === "logs") return logs.some(isAnswer)
  return by !== "sibling" || twin !== undefined || hasWholeAnswer(span)
}

/** Whether others say more of a call: not where it does not wait for them, so that the order in which they come makes no difference. */
const mayBeFilled = (span: Span, by: Completion | undefined): boolean =>
  by !== undefined && (by !== "sibling" || !hasWholeAnswer(span))

export const assemble = (all: Told): Assembled => {
  const trace = new Trace(all)
  const told = new Set(all.spans.map(idOf))
  const spans = Array.from(trace.spans.values()).filter((span) => told.has(idOf(span)))
  const ofLogs = callsOfLogs(all.logs, trace.spans)
  const ofSpans = spans.filter((span) => kindOf(span) === "call")
  const candidates = [...ofSpans, ...ofLogs.calls.map(({ span }) => span)]
  // Log records say more than spans where both tell a call.
  const wholes = new Set([...ofSpans.filter(hasContent), ...ofLogs.calls.map(({ span }) => span)])
  const twins = twinsOf(candidates, wholes, trace)
  const doubles = new Set(twins.values())
  const ownerOf = ownersOf(ofSpans)
  const logsOf = listsOf(ofLogs.rest.map((log) => [ownerOf(log), log]))
  const logCalls = new Map(ofLogs.calls.map((call) => [call.span, call]))
  const taken = new Set<LogRecord>()

  const memberOf = (span: Span) => {
    const { isClosed, spans: ancestors } = trace.ancestorsOf(span)
    const group = groupOf(span, ancestors, isClosed ? {} : trace.commonOf(span.traceId))
    return {
      ancestors,
      group,
      isKnown: isClosed || (isSelfSufficient(span) && groupOf(span, []).session !== undefined)
    }
  }

  const callOf = (span: Span): Call => {
    const { ancestors, group, isKnown } = memberOf(span)
    const twin = twins.get(span)
    const parent = ancestors.find(({ spanId }) => spanId === span.parentSpanId)
    const logs = [
      ...(logCalls.get(span)?.logs ?? []),
      ...(logsOf.get(idOf(span)) ?? []),
      ...(twin === undefined ? [] : (logsOf.get(idOf(twin)) ?? []))
    ].toSorted((one, other) => one.timeMs - other.timeMs)
    for (const log of logs) taken.add(log)
    const by = completionOf(span)
    const ofOthers = [
      ...logs.map(({ attributes }) => attributes),
      ...(twin ? [twin.attributes] : []),
      ...(parent && by === "parent" ? [ofParent(parent)] : [])
    ]
    const isFilled = logCalls.has(span) || mayBeFilled(span, by)
    const fill = fillOf(span, [
      messagesOf(isFilled ? logs : []),
      messagesOf(span.events.map((event) => ({ ...event, body: null }))),
      ...(isFilled ? ofOthers : [])
    ])
    return {
      span,
      ancestors,
      group,
      fill,
      logs,
      hasContent: hasContent(span) || hasContent({ attributes: fill }) || bodiesOf(logs) !== undefined,
      spans: [...(logCalls.has(span) ? [] : [span]), ...(twin === undefined ? [] : [twin])],
      isComplete:
        twin === undefined && logCalls.has(span)
          ? logCalls.get(span)!.isComplete
          : isKnown && isCompleted(span, by, { parent, twin, logs })
    }
  }

  const stepOf = (span: Span, kind: StepKind): Step => {
    const { group, isKnown } = memberOf(span)
    return { span, kind, group, spans: [span], logs: [], isComplete: isKnown }
  }

  const calls = candidates.filter((span) => !doubles.has(span)).map(callOf)
  const steps = spans.flatMap((span) => {
    const kind = kindOf(span)
    return kind === undefined || kind === "call" ? [] : [stepOf(span, kind)]
  })
  return { calls, steps, logs: ofLogs.rest.filter((log) => !taken.has(log)) }
}
