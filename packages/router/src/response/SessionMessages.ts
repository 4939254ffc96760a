/** The answer of List Session Messages. */
import type { SessionMessage } from "@tachograph/core"
import * as ExactJson from "@tachograph/formats/json/ExactJson"
import * as DateTime from "effect/DateTime"
import * as Answer from "./Answer.ts"

/** What stands for a message that cannot be read. */
const damaged = { role: "unknown", parts: [], is_damaged: true }

/** Fields that only some messages have. Those of the provider with these names would say what is not so. */
const marks: ReadonlySet<string> = new Set(["verbatim", "is_damaged"])

const withoutMarks = (message: ExactJson.ExactObject): ExactJson.ExactObject =>
  Object.fromEntries(Object.entries(message).filter(([name]) => !marks.has(name)))

/** Written as text: numbers are those of the texts, also where JavaScript would round them. */
const textOf = ({ at, eventId, from, message, number, verbatim }: SessionMessage, isVerbatim: boolean): string => {
  const own = { number, event_id: eventId, at: DateTime.formatIso(at), from, ...(isVerbatim ? { verbatim } : {}) }
  const said = message === undefined ? damaged : withoutMarks(message as ExactJson.ExactObject)
  // First, and also where a field of the provider has the same name.
  return ExactJson.stringify({ ...own, ...said, ...own })
}

export const toAnswer = (
  messages: ReadonlyArray<SessionMessage>,
  damagedCalls: number,
  nextCursor: string | null,
  isVerbatim: boolean
): Answer.Answer => {
  const texts = messages.map((message) => textOf(message, isVerbatim))
  const rest = `"damaged_calls":${damagedCalls},"next_cursor":${JSON.stringify(nextCursor)}`
  return Answer.json(`{"messages":[${texts.join(",")}],${rest}}`)
}
