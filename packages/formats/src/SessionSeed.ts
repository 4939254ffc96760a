/** What makes the calls of one conversation one session, where the application names none. */
import type { Api, Conversation, Format, Message } from "./Format.ts"
import { formats } from "./Formats.ts"
import { identity } from "./Identity.ts"
import { stringify } from "./json/ExactJson.ts"
import { isObject } from "./json/Read.ts"

/** The messages up to the first of the user. Those after it are not read. */
const opening = (format: Pick<Format, "element">, elements: ReadonlyArray<unknown>): ReadonlyArray<Message> => {
  const messages: Array<Message> = []
  for (const element of elements) {
    for (const message of format.element(element)) {
      messages.push(message)
      if (message.role === "user") return messages
    }
  }
  return messages
}

const openingOf = ({ input, instructions }: Conversation, rest: ReadonlyArray<Message>) => {
  const end = input.findIndex(({ role }) => role === "user")
  const messages = end === -1 ? input : input.slice(0, end + 1)
  return stringify([instructions, ...[...messages, ...rest].map(identity)], true)
}

/**
 * A text whose hash names the session of a call: its instructions and its messages up to the first of the user, in normal
 * form. It is the same for each call of a conversation that grows. A conversation that the provider keeps under an id is
 * named by that id.
 */
export const sessionSeed = (api: Api, inputs: unknown): string => {
  const format = (formats as Partial<Record<Api, Format<never>>>)[api]
  if (!isObject(inputs) || format === undefined) return JSON.stringify(inputs) ?? ""
  const { conversation } = inputs
  const kept = isObject(conversation) ? conversation["id"] : conversation
  if (typeof kept === "string" && kept !== "") return JSON.stringify(["conversation", kept])
  const key = format.conversationKeys.find((name) => Array.isArray(inputs[name]))
  if (key === undefined) return openingOf(format.messages(inputs, null), [])
  const messages = opening(format, inputs[key] as ReadonlyArray<unknown>)
  return openingOf(format.messages({ ...inputs, [key]: [] }, null), messages)
}
