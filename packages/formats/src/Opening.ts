/** The beginning of a conversation, which all its calls have in common. */
import type { Conversation, ConversationReader, Message } from "./Format.ts"
import { identity } from "./Identity.ts"
import { stringify } from "./json/ExactJson.ts"
import { isObject } from "./json/Read.ts"
import { quietInstructions } from "./Noise.ts"

/** The beginning of a conversation in which no user says anything has no more messages. */
const maxOpening = 100

/** The messages up to the first of the user. Those after it are not read. */
const opening = (
  format: Pick<ConversationReader, "element">,
  elements: ReadonlyArray<unknown>
): ReadonlyArray<Message> => {
  const messages: Array<Message> = []
  for (const element of elements) {
    for (const message of format.element(element)) {
      messages.push(message)
      if (message.role === "user" || messages.length === maxOpening) return messages
    }
  }
  return messages
}

const openingOf = ({ input, instructions }: Conversation, rest: ReadonlyArray<Message>) => {
  const end = input.findIndex(({ role }) => role === "user")
  const messages = input.slice(0, end === -1 ? maxOpening : end + 1)
  return stringify([quietInstructions(instructions), ...[...messages, ...rest].map(identity)], true)
}

/** Names the conversation of a call, as `sessionSeed` does, by what reads its format. */
export const seedBy = (reader: ConversationReader | undefined, inputs: unknown): string => {
  if (!isObject(inputs) || reader === undefined) return JSON.stringify(inputs) ?? ""
  const { conversation } = inputs
  const kept = isObject(conversation) ? conversation["id"] : conversation
  if (typeof kept === "string" && kept !== "") return JSON.stringify(["conversation", kept])
  const key = reader.conversationKeys.find((name) => Array.isArray(inputs[name]))
  if (key === undefined) return openingOf(reader.messages(inputs, null), [])
  const messages = opening(reader, inputs[key] as ReadonlyArray<unknown>)
  return openingOf(reader.messages({ ...inputs, [key]: [] }, null), messages)
}
