/** Calls and steps as the trees of spans that they were: a tree for each trace, its rows in the order in which they are read. */
import { otlpOf } from "../../parts/Recorded.ts"
import type { Call, Step } from "../../server/Types.ts"
import { timeOf } from "./StreamItems.ts"

interface CallSpan {
  readonly kind: "call"
  readonly call: Call
  /** From 1, among all calls of the session. */
  readonly number: number
}

interface StepSpan {
  readonly kind: "step"
  readonly step: Step
}

type Span = CallSpan | StepSpan

/** A trace, before its spans. A call without one is alone. */
export interface TraceRow {
  readonly kind: "trace"
  readonly key: string
  readonly id: string | null
  readonly at: string
  readonly durationMs: number
  readonly calls: number
  readonly steps: number
}

export type SpanRow = Span & {
  readonly key: string
  /** From 0. */
  readonly depth: number
  readonly durationMs: number | null
  /** After the start of its trace. */
  readonly afterMs: number
  /** Where its bar begins, and its length, as parts of the trace: 0 to 1. */
  readonly begin: number
  readonly length: number
}

export type Row = TraceRow | SpanRow

interface Node {
  readonly span: Span
  readonly key: string
  readonly id: string | null
  readonly parent: unknown
  readonly trace: string | null
  readonly startMs: number
  readonly durationMs: number | null
  readonly children: Array<Node>
}

const nodeOfCall = (call: Call, index: number): Node => ({
  span: { kind: "call", call, number: index + 1 },
  key: call.event_id,
  id: call.span_id,
  parent: otlpOf(call)?.["parent"],
  trace: call.trace_id,
  startMs: Date.parse(timeOf(call)),
  durationMs: call.duration_ms,
  children: []
})

const nodeOfStep = (step: Step): Node => ({
  span: { kind: "step", step },
  key: `${step.trace_id} ${step.span_id}`,
  id: step.span_id,
  parent: step.parent_span_id,
  trace: step.trace_id,
  startMs: Date.parse(step.occurred_at),
  durationMs: step.duration_ms,
  children: []
})

const endOf = ({ durationMs, startMs }: Node): number => startMs + (durationMs ?? 0)

/** Those that started together are longest first: what is around another one starts with it. */
const inOrder = (one: Node, other: Node): number => one.startMs - other.startMs || endOf(other) - endOf(one)

/** Hangs each span below its parent. Returns those whose parent is not here. */
const rootsOf = (nodes: ReadonlyArray<Node>): ReadonlyArray<Node> => {
  const byId = new Map<unknown, Node>()
  for (const node of nodes) if (node.id !== null && !byId.has(node.id)) byId.set(node.id, node)
  return nodes.filter((node) => {
    const parent = byId.get(node.parent)
    if (parent === undefined || parent === node) return true
    parent.children.push(node)
    return false
  })
}

/** Parents first, with their depths. Spans that are ancestors of themselves hang below no root, and come last. */
const walk = (nodes: ReadonlyArray<Node>): ReadonlyArray<readonly [Node, depth: number]> => {
  const rows: Array<readonly [Node, number]> = []
  const seen = new Set<Node>()
  for (const root of [...rootsOf(nodes), ...nodes]) {
    const open: Array<readonly [Node, number]> = [[root, 0]]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [node, depth] = next
      if (seen.has(node)) continue
      seen.add(node)
      rows.push(next)
      for (const child of node.children.toReversed()) open.push([child, depth + 1])
    }
  }
  return rows
}

const rowsOfTrace = (trace: string | null, nodes: ReadonlyArray<Node>): ReadonlyArray<Row> => {
  const [first] = nodes
  const { startMs } = first!
  const durationMs = nodes.reduce((latest, node) => Math.max(latest, endOf(node)), startMs) - startMs
  const calls = nodes.filter(({ span }) => span.kind === "call").length
  const head: TraceRow = {
    kind: "trace",
    key: `trace ${first!.key}`,
    id: trace,
    at: new Date(startMs).toISOString(),
    durationMs,
    calls,
    steps: nodes.length - calls
  }
  const part = (ms: number) => (durationMs === 0 ? 0 : ms / durationMs)
  return [
    head,
    ...walk(nodes).map(([node, depth]): SpanRow => ({
      ...node.span,
      key: node.key,
      depth,
      durationMs: node.durationMs,
      afterMs: node.startMs - startMs,
      begin: part(node.startMs - startMs),
      length: part(node.durationMs ?? 0)
    }))
  ]
}

export const rowsOf = (calls: ReadonlyArray<Call>, steps: ReadonlyArray<Step>): ReadonlyArray<Row> => {
  const traces = new Map<string, Array<Node>>()
  for (const node of [...calls.map(nodeOfCall), ...steps.map(nodeOfStep)].toSorted(inOrder)) {
    const key = node.trace ?? node.key
    const trace = traces.get(key)
    if (trace === undefined) traces.set(key, [node])
    else trace.push(node)
  }
  return Array.from(traces.values()).flatMap((nodes) => rowsOfTrace(nodes[0]!.trace, nodes))
}
