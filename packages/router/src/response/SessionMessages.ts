/** The answer of List Session Messages. */
import type { SessionMessage } from "@tachograph/core"
import * as ExactJson from "@tachograph/formats/json/ExactJson"
import { isInstructionPart } from "@tachograph/formats/normal/Instructions"
import * as DateTime from "effect/DateTime"
import * as Answer from "./Answer.ts"

/** What stands for a message that cannot be read. */
const damaged = { role: "unknown", parts: [], is_damaged: true }

/** Fields that only some messages have. Those of the provider with these names would say what is not so. */
const marks: ReadonlySet<string> = new Set(["verbatim", "instruction_parts", "is_damaged"])

const withoutMarks = (message: ExactJson.ExactObject): ExactJson.ExactObject =>
  Object.fromEntries(Object.entries(message).filter(([name]) => !marks.has(name)))

/** Which parts are instructions. */
const instructionsIn = (message: SessionMessage["message"]) => {
  const instruction_parts = (message?.parts ?? []).flatMap((part, index) =>
    isInstructionPart(message!, part) ? [index] : []
  )
  return instruction_parts.length === 0 ? {} : { instruction_parts }
}

/** Written as text: numbers are those of the texts, also where JavaScript would round them. */
const textOf = ({ at, eventId, from, message, number, verbatim }: SessionMessage, isVerbatim: boolean): string => {
  const own = {
    number,
    event_id: eventId,
    at: DateTime.formatIso(at),
    from,
    ...(isVerbatim ? { verbatim } : {}),
    ...instructionsIn(message)
  }
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
