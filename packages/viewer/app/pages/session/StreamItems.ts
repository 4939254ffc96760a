/** A session as one growing stream: each call as a mark, and after it its instructions, where they are others, and the messages that it added. */
import * as Pairs from "../../parts/message/Pairs.ts"
import * as ToolSteps from "../../parts/message/ToolSteps.ts"
import type { Call, Message, Part, Step } from "../../server/Types.ts"
import * as Words from "../../text/Words.ts"
import * as Retries from "./Retries.ts"

/** What a tool answered, and the message that holds it. */
export type Result = Pairs.Result<Message>

interface CallItem {
  readonly kind: "call"
  readonly key: string
  readonly call: Call
  /** From 1, among all calls of the session. */
  readonly number: number
  readonly retried: Retries.Retried
}

interface MessageItem {
  readonly kind: "message"
  readonly key: string
  readonly message: Message
  readonly call: Call
}

/** Instructions of a call that begins a thread, or that has others than the call before: all in one row. */
interface InstructionsItem {
  readonly kind: "instructions"
  readonly key: string
  readonly call: Call
  /** Those that are messages. */
  readonly messages: ReadonlyArray<Message>
}

export type Item = CallItem | InstructionsItem | MessageItem

export interface Stream {
  readonly items: ReadonlyArray<Item>
  /** By the part that calls a tool. */
  readonly results: ReadonlyMap<Part, Result>
  readonly callsById: ReadonlyMap<string, CallItem>
}

/** The answers of tools, along the parents of the calls. */
const pairsOf = (calls: ReadonlyArray<Call>, messages: ReadonlyArray<Message>) => {
  const byNumber = new Map(messages.map((message) => [message.number, message]))
  return Pairs.pairsAlong(
    calls.map(({ event_id, new_messages, output, parent_event_id }) => ({
      id: event_id,
      parent: parent_event_id,
      messages: [...new_messages, ...output].flatMap((number) => byNumber.get(number) ?? [])
    }))
  )
}

/** With what only the steps of tools tell of their answers. */
const withTold = (
  messages: ReadonlyArray<Message>,
  results: ReadonlyMap<Part, Result>,
  toolCalls: ReadonlyMap<Part, Step>
): ReadonlyMap<Part, Result> => {
  if (toolCalls.size === 0) return results
  const all = new Map(results)
  for (const message of messages) {
    for (const part of message.parts) {
      const step = toolCalls.get(part)
      const told = step && ToolSteps.answerOf(step)
      const known = results.get(part)
      if (told === undefined || (known !== undefined && !ToolSteps.isPlaceholder(known.part))) continue
      all.set(part, { message: known?.message ?? message, part: told })
    }
  }
  return all
}

const instructionsOf = (call: Call, byNumber: ReadonlyMap<number, Message>): ReadonlyArray<InstructionsItem> => {
  const { event_id, instruction_characters, instruction_messages, instructions_changed, parent_event_id } = call
  const isNew = parent_event_id === null || instructions_changed
  if (!isNew || (!instructions_changed && !instruction_characters)) return []
  const messages = instruction_messages.flatMap((number) => byNumber.get(number) ?? [])
  return [{ kind: "instructions", key: `i${event_id}`, call, messages }]
}

/** Only the calls of `shown`, where it is given. */
export const streamOf = (
  calls: ReadonlyArray<Call>,
  messages: ReadonlyArray<Message>,
  shown: ReadonlySet<string> | undefined,
  toolCalls: ReadonlyMap<Part, Step> = new Map()
): Stream => {
  const { answers, results: said } = pairsOf(calls, messages)
  const results = withTold(messages, said, toolCalls)
  const byEvent = new Map<string, Array<Message>>()
  for (const message of messages) {
    const own = byEvent.get(message.event_id)
    if (own === undefined) byEvent.set(message.event_id, [message])
    else own.push(message)
  }
  const byNumber = new Map(messages.map((message) => [message.number, message]))
  const leading = new Set(calls.flatMap(({ instruction_messages }) => instruction_messages))
  const items: Array<Item> = []
  const callsById = new Map<string, CallItem>()
  const retriedOf = Retries.retriesOf(calls)
  calls.forEach((call, index) => {
    const item: CallItem = { kind: "call", key: call.event_id, call, number: index + 1, retried: retriedOf(call) }
    callsById.set(call.event_id, item)
    if (shown !== undefined && !shown.has(call.event_id)) return
    items.push(item, ...instructionsOf(call, byNumber))
    for (const message of byEvent.get(call.event_id) ?? []) {
      if (leading.has(message.number)) continue
      // What a tool answered is shown beside its call.
      if (message.parts.length > 0 && message.parts.every((part) => answers.has(part))) continue
      items.push({ kind: "message", key: `m${message.number}`, message, call })
    }
  })
  return { items, results, callsById }
}

const texts = new WeakMap<Message, { readonly words: string; readonly answers: ReadonlyArray<Part> }>()

/** What an item says, for finding: a tool's call with what it answered. In lower case. */
export const wordsOf = (item: Item, results: ReadonlyMap<Part, Result>): string => {
  if (item.kind === "call") return ""
  if (item.kind === "instructions") return Words.ofMessages(item.messages).toLowerCase()
  const { message } = item
  const answers = message.parts.flatMap((part) => results.get(part)?.part ?? [])
  const known = texts.get(message)
  // Answers come later than what asked for them.
  if (known?.answers.length === answers.length && known.answers.every((each, index) => each === answers[index])) {
    return known.words
  }
  const words = [Words.ofMessage(message), ...answers.map(Words.ofPart)].join("\n").toLowerCase()
  texts.set(message, { words, answers })
  return words
}

/** When a call happened, as its client says; else when it was recorded. */
export const timeOf = (call: Call): string => call.occurred_at ?? call.received_at

/** A call whose history was rewritten: it shares messages with its parent, but not all of them. */
export const isRewrite = (call: Call): boolean => call.parent_event_id !== null && call.gone_messages.length > 0

/** The item of a message; of a tool's answer, the item of its call; of an instruction, that of all instructions. */
export const indexOfMessage = ({ items, results }: Stream, number: number): number => {
  const own = items.findIndex(
    (item) =>
      (item.kind === "message" && item.message.number === number) ||
      (item.kind === "instructions" && item.messages.some((message) => message.number === number))
  )
  if (own !== -1) return own
  for (const [part, { message }] of results) {
    if (message.number !== number) continue
    return items.findIndex((item) => item.kind === "message" && item.message.parts.includes(part))
  }
  return -1
}
