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

/** Ids may come again, in another turn or by another agent: then the trace and the time decide. */
const byIds = (claims: Claims, asked: ReadonlyArray<Asked>, tools: ReadonlyArray<Step>): void => {
  const told = grouped(tools, ToolSteps.idOf)
  for (const [id, calls] of grouped(asked, ({ part }) => part["id"] as string | undefined)) {
    const steps = told.get(id) ?? []
    if (steps.length === 1 && calls.length === 1) claims.claim(calls[0]!, steps[0])
    else {
      for (const each of calls) {
        const own = steps.filter(({ trace_id }) => trace_id === each.call.trace_id)
        if (own.length === 1) claims.claim(each, own[0])
        else if (each.isOutput) {
          claims.claim(
            each,
            own.find((step) => claims.isFree(step) && startOf(step) >= startOf(each.call))
          )
        }
      }
    }
  }
}

const byNames = (claims: Claims, asked: ReadonlyArray<Asked>, tools: ReadonlyArray<Step>): void => {
  for (const [name, calls] of grouped(asked.filter(claims.isOpen), ({ part }) => part["name"] as string | undefined)) {
    const named = tools.filter((step) => ToolSteps.nameOf(step) === name)
    for (const each of calls) {
      claims.claim(
        each,
        named.find((step) => claims.isFree(step) && ToolSteps.hasArguments(step, each.part) === true)
      )
    }
    const open = calls.filter(claims.isOpen)
    const free = named.filter(claims.isFree)
    const canBe = (each: Asked, index: number) => ToolSteps.hasArguments(free[index]!, each.part) === undefined
    if (open.length === free.length && open.every(canBe)) {
      open.forEach((each, index) => claims.claim(each, free[index]))
    }
  }
}

/** The steps by the parts that call the tools. */
export const toolCallsOf = (
  calls: ReadonlyArray<Call>,
  messages: ReadonlyArray<Message>,
  steps: ReadonlyArray<Step>
): ReadonlyMap<Part, Step> => {
  const claims = new Claims()
  const tools = steps.filter(({ kind }) => kind === "tool")
  if (tools.length === 0) return claims.steps
  const asked = askedIn(calls, messages)
  byIds(claims, asked, tools)
  const nameless = grouped(
    tools.filter((step) => ToolSteps.idOf(step) === undefined),
    ({ trace_id }) => trace_id
  )
  const starts = new Map(
    Array.from(
      grouped(calls, ({ trace_id }) => trace_id),
      ([trace, own]) => [trace, own.map(startOf).toSorted((one, other) => one - other)] as const
    )
  )
  const outputs = asked.filter((each) => each.isOutput && claims.isOpen(each))
  for (const own of grouped(outputs, ({ call }) => call.event_id).values()) {
    const { call } = own[0]!
    const from = startOf(call)
    const until = starts.get(call.trace_id ?? "")?.find((start) => start > from) ?? Infinity
    const between = (nameless.get(call.trace_id ?? "") ?? []).filter(
      (step) => claims.isFree(step) && startOf(step) >= from && startOf(step) <= until
    )
    byNames(claims, own, between)
  }
  return claims.steps
}
