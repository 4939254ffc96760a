/**
 * Which step is the tool that a call of a model asked for. Its id says it. Where steps have no ids: those between two calls of a trace,
 * by name and arguments, else by name and order. What fits more than one has none.
 */
import * as ToolSteps from "../../parts/message/ToolSteps.ts"
import type { Call, Message, Part, Step } from "../../server/Types.ts"

interface Asked {
  readonly part: Part
  readonly call: Call
  readonly isOutput: boolean
}

const askedIn = (calls: ReadonlyArray<Call>, messages: ReadonlyArray<Message>): ReadonlyArray<Asked> => {
  const byId = new Map(calls.map((call) => [call.event_id, call]))
  return messages.flatMap(({ event_id, from, parts }) => {
    const call = byId.get(event_id)
    return parts.flatMap((part) =>
      part.type === "tool_call" && call !== undefined ? [{ part, call, isOutput: from === "output" }] : []
    )
  })
}

/** Epoch ms. A call that does not say when it began has no place between others. */
const startOf = ({ occurred_at }: Call | Step): number => Date.parse(occurred_at ?? "")

const grouped = <A>(rows: ReadonlyArray<A>, keyOf: (row: A) => string | null | undefined): Map<string, Array<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const row of rows) {
    const key = keyOf(row)
    if (typeof key !== "string") continue
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}

class Claims {
  readonly steps = new Map<Part, Step>()
  readonly #taken = new Set<Step>()

  isFree = (step: Step): boolean => !this.#taken.has(step)

  isOpen = ({ part }: Asked): boolean => !this.steps.has(part)

  claim({ part }: Asked, step: Step | undefined): void {
    if (step === undefined) return
    this.steps.set(part, step)
    this.#taken.add(step)
  }
}

/** Ids may come again, in another turn or by another agent: then a tool is that of the call of its trace that asked for it last. */
const byIds = (claims: Claims, asked: ReadonlyArray<Asked>, tools: ReadonlyArray<Step>): void => {
  const told = grouped(tools, ToolSteps.idOf)
  for (const [id, calls] of grouped(asked, ({ part }) => part["id"] as string | undefined)) {
    const steps = told.get(id) ?? []
    if (steps.length === 1 && calls.length === 1) {
      claims.claim(calls[0]!, steps[0])
      continue
    }
    for (const step of steps) {
      const last = calls.findLast(
        ({ call, isOutput }) => isOutput && call.trace_id === step.trace_id && startOf(call) <= startOf(step)
      )
      if (last !== undefined && claims.isOpen(last)) claims.claim(last, step)
    }
    // What is sent back with other fields is another message.
    for (const each of calls) {
      const own = each.isOutput ? [] : steps.filter(({ trace_id }) => trace_id === each.call.trace_id)
      if (own.length === 1) claims.claim(each, own[0])
    }
  }
}

const byNames = (claims: Claims, asked: ReadonlyArray<Asked>, tools: ReadonlyArray<Step>): void => {
  const byName = grouped(tools, ToolSteps.nameOf)
  for (const [name, calls] of grouped(asked, ({ part }) => part["name"] as string | undefined)) {
    const named = byName.get(name) ?? []
    const told = grouped(named, ToolSteps.argumentsOf)
    for (const each of calls) claims.claim(each, told.get(ToolSteps.argumentsIn(each.part) ?? "")?.shift())
    const open = calls.filter(claims.isOpen)
    const free = named.filter(claims.isFree)
    const canBe = ({ part }: Asked, index: number) =>
      ToolSteps.argumentsIn(part) === undefined || ToolSteps.argumentsOf(free[index]!) === undefined
    if (open.length === free.length && open.every(canBe)) {
      open.forEach((each, index) => claims.claim(each, free[index]))
    }
  }
}

/** The index of the first that began then or later, of those that are in the order of their starts. */
const firstFrom = (rows: ReadonlyArray<Call | Step>, ms: number): number => {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (startOf(rows[middle]!) < ms) low = middle + 1
    else high = middle
  }
  return low
}

const inOrder = (one: Call | Step, other: Call | Step): number => startOf(one) - startOf(other)

const traceOf = ({ trace_id }: Call | Step): string | null => trace_id

/** The steps by the parts that call the tools. */
export const toolCallsOf = (
  calls: ReadonlyArray<Call>,
  messages: ReadonlyArray<Message>,
  steps: ReadonlyArray<Step>
): ReadonlyMap<Part, Step> => {
  const claims = new Claims()
  const tools = steps.filter(({ kind }) => kind === "tool").toSorted(inOrder)
  if (tools.length === 0) return claims.steps
  const asked = askedIn(calls, messages)
  byIds(claims, asked, tools)
  const nameless = grouped(
    tools.filter((step) => ToolSteps.idOf(step) === undefined),
    traceOf
  )
  const begun = grouped(calls.filter(({ occurred_at }) => occurred_at !== null).toSorted(inOrder), traceOf)
  const outputs = asked.filter((each) => each.isOutput && claims.isOpen(each))
  for (const own of grouped(outputs, ({ call }) => call.event_id).values()) {
    const { call } = own[0]!
    if (call.occurred_at === null) continue
    const among = begun.get(call.trace_id ?? "") ?? []
    const ownTools = nameless.get(call.trace_id ?? "") ?? []
    const next = among[firstFrom(among, startOf(call) + 1)]
    const between = ownTools.slice(
      firstFrom(ownTools, startOf(call)),
      next === undefined ? undefined : firstFrom(ownTools, startOf(next) + 1)
    )
    byNames(claims, own, between.filter(claims.isFree))
  }
  return claims.steps
}
