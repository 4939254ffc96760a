/** Compares what spans tell of calls with what really went over the wire. */
import { type Api, type Facts, formats, type Message, type Part } from "@tachograph/formats"
import { identity } from "@tachograph/formats/normal/Identity"
import { isInstruction } from "@tachograph/formats/normal/Instructions"
import { assemble } from "../../src/spans/Assemble.ts"
import { bodiesOf } from "../../src/spans/LogCalls.ts"
import { errorOf } from "../../src/spans/Outcome.ts"
import { payloadOf } from "../../src/spans/Payload.ts"
import type { Run, WireCall } from "./Posts.ts"

interface Read {
  readonly facts: Facts
  readonly instructions: ReadonlyArray<Part>
  readonly tools: ReadonlyArray<unknown>
  readonly input: ReadonlyArray<Message>
  readonly output: ReadonlyArray<Message>
}

const read = (api: Api, inputs: unknown, output: unknown): Read => ({
  facts: formats[api].facts(inputs, output),
  ...formats[api].messages(inputs, output)
})

const toldCalls = ({ logs, spans }: Run): ReadonlyArray<Read> =>
  // Traces are finished one by one.
  [...new Set([...spans, ...logs].map(({ traceId }) => traceId))]
    .flatMap((trace) => {
      const isOf = ({ traceId }: { readonly traceId: string }) => traceId === trace
      return assemble({ spans: spans.filter(isOf), logs: logs.filter(isOf), links: [] }).calls
    })
    // Those that log records alone tell have no attributes that are read here.
    .filter((call) => call.spans.length > 0)
    .toSorted((a, b) => a.span.startMs - b.span.startMs)
    .map(({ ancestors, fill, logs: own, span }) => {
      const bodies = bodiesOf(own)
      const { api, inputs, output } =
        bodies === undefined
          ? payloadOf(span, errorOf(span, fill, ancestors), fill)
          : { api: "provider2-beta-messages" as const, ...bodies }
      return read(api, JSON.parse(inputs), JSON.parse(output))
    })

const apiOf = ({ url }: WireCall): Api => {
  if (url.includes("/chat/completions")) return "provider1-chat-completions"
  if (url.includes("/responses")) return "provider1-responses"
  return url.includes("/messages") ? "provider2-messages" : "provider3-models"
}

const wireCall = (call: WireCall): Read => {
  const model = /models\/([^:]+):/.exec(call.url)?.[1]
  const request = (call.request ?? {}) as object
  const answer = call.response as { readonly model?: string } | null
  return read(
    apiOf(call),
    { model: model ?? answer?.model?.replace(/-\d{4}-\d\d-\d\d$/, ""), ...request },
    call.response
  )
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)])
  )
}

const jsonOf = (value: unknown): string => {
  try {
    return JSON.stringify(sorted(typeof value === "string" ? JSON.parse(value) : (value ?? {})))
  } catch {
    return JSON.stringify(value)
  }
}

/** Tools of Google have no ids, and their results are objects. */
const plainPart = ({ arguments: given, content: said, id, name, response, type }: Part): string => {
  if (type === "tool_call") return `call ${String(name)} ${jsonOf(given)} ${String(id ?? "")}`
  if (type === "tool_call_response") return `result ${jsonOf(response)} ${String(id ?? "")}`
  return type === "text" ? `text ${String(said)}` : type
}

/** What messages say one after the other, in one role for the same side. Thoughts and pictures are compared apart. */
const saidBy = (messages: ReadonlyArray<Message>): ReadonlyArray<string> =>
  messages
    .filter(({ role }) => !isInstruction({ role }))
    .flatMap(({ parts, role }) => parts.map((part) => `${role === "assistant" ? "answer" : "ask"} ${plainPart(part)}`))
    .filter((text) => !/ (?:reasoning|blob|uri|file|custom)$|text $/.test(text))

const countOf = (messages: ReadonlyArray<Message>, types: RegExp): number =>
  messages.flatMap(({ parts }) => parts).filter(({ type }) => types.test(type)).length

const instructionsOf = ({ input, instructions }: Read): string =>
  [...instructions, ...input.filter(isInstruction).flatMap(({ parts }) => parts)]
    .map(({ content: said }) => said)
    .join("\n")

/** Google writes types in capitals, and some emitters add descriptions that were not sent. */
const toolsOf = ({ tools }: Read): string =>
  tools
    .map((tool) => {
      const { name, parameters } = tool as {
        readonly name?: unknown
        readonly parameters?: { readonly properties?: object }
      }
      return `${String(name)}(${Object.keys(parameters?.properties ?? {}).join()})`
    })
    .join()

const factNames = [
  ...[
    "provider",
    "model",
    "response_model",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens"
  ],
  ...["reasoning_tokens", "stop_reason"]
] as const

/** Aspects of a call, each with what it was and what was told. */
const aspectsOf = (
  wire: Read,
  told: Read,
  { aborted: isBroken = false, request }: WireCall
): ReadonlyArray<readonly [name: string, was: unknown, told: unknown]> => [
  ...factNames.map((name) => [name, wire.facts[name] || null, told.facts[name] || null] as const),
  ["tool calls", wire.facts.tool_calls?.join() ?? "", told.facts.tool_calls?.join() ?? ""],
  ["error", isBroken || wire.facts.error_type !== null, told.facts.error_type !== null],
  ["answer", saidBy(wire.output).join("\n"), saidBy(told.output).join("\n")],
  ["thoughts", countOf(wire.output, /^reasoning$/) > 0, countOf(told.output, /^reasoning$/) > 0],
  ...(request !== undefined
    ? ([
        ["messages", saidBy(wire.input).join("\n"), saidBy(told.input).join("\n")],
        ["pictures", countOf(wire.input, /^(?:blob|uri)$/), countOf(told.input, /^(?:blob|uri)$/)],
        ["instructions", instructionsOf(wire), instructionsOf(told)],
        ["tools", toolsOf(wire), toolsOf(told)]
      ] as const)
    : [])
]

const isFailed = (call: WireCall): boolean => call.status !== 200 || call.aborted === true

/** Pairs of calls in their order, by what was answered; and else by whether they failed, because failed calls are mostly not told. */
const pairs = (run: Run, told: ReadonlyArray<Read>): ReadonlyArray<readonly [WireCall, Read]> => {
  if (told.length === run.calls.length) return run.calls.map((call, at) => [call, told[at]!])
  const made: Array<readonly [WireCall, Read]> = []
  let left = run.calls
  // The first posts of some runs were not kept.
  for (const read of told.toReversed()) {
    const said = saidBy(read.output).join()
    const isSame = (call: WireCall) => said !== "" && !isFailed(call) && saidBy(wireCall(call).output).join() === said
    const isSent = (call: WireCall) =>
      read.facts.error_type !== null &&
      isFailed(call) &&
      saidBy(wireCall(call).input).join() === saidBy(read.input).join()
    const isAlike = (call: WireCall) => isFailed(call) === (read.facts.error_type !== null)
    const found = [isSame, isSent, isAlike].map((is) => left.findLastIndex(is)).find((index) => index !== -1)
    if (found === undefined) continue
    made.unshift([left[found]!, read])
    left = left.slice(0, found)
  }
  return made
}

/** Whether each answer has its identity again where it is sent back, wherever it really is. */
const continues = (made: ReadonlyArray<readonly [Read, Read]>): ReadonlyArray<string> => {
  const lost: Array<string> = []
  for (const [at, [wire, told]] of made.entries()) {
    const [nextWire, nextTold] = made[at + 1] ?? []
    if (nextWire === undefined || nextTold === undefined) continue
    const sent = new Set(nextWire.input.map(identity))
    if (
      wire.output.length === 0 ||
      !wire.output.every((message) => sent.has(identity(message)) || saidBy([message]).length === 0)
    )
      continue
    const again = new Set(nextTold.input.map(identity))
    for (const message of told.output)
      if (!again.has(identity(message)) && saidBy([message]).length > 0) lost.push(identity(message))
    if (told.output.length === 0) lost.push("no answer")
  }
  return lost
}

/** How often each aspect of the calls of a run was told otherwise than it was, and how. */
export const compare = (run: Run) => {
  const told = toldCalls(run)
  const made = pairs(run, told)
  const found: Record<string, number> = {}
  const details: Array<string> = []
  const add = (name: string, detail: string) => {
    found[name] = (found[name] ?? 0) + 1
    details.push(`${name}: ${detail}`)
  }
  for (let at = made.length; at < run.calls.length; at++) add("calls", `${told.length} told of ${run.calls.length}`)
  for (let at = made.length; at < told.length; at++) add("more calls", "")
  for (const [call, read] of made) {
    const isWhole = !isFailed(call)
    for (const [name, was, is] of aspectsOf(wireCall(call), read, call)) {
      if (was !== is && (isWhole || ["error", "messages", "model", "tools", "instructions"].includes(name))) {
        add(name, `${JSON.stringify(was)} was told as ${JSON.stringify(is)}`)
      }
    }
  }
  if (run.calls.every(({ request }) => request !== undefined)) {
    for (const lost of continues(
      made.filter(([call]) => !isFailed(call)).map(([call, read]) => [wireCall(call), read])
    )) {
      add("continued", lost)
    }
  }
  return { found, details, calls: told.length }
}
