/** What makes the calls of one conversation one session, where nothing names one: its beginning, which all its calls have in common. */
import { conversationIn } from "@tachograph/formats/facts/Kept"
import type { Api, Conversation, ConversationReader, Message } from "@tachograph/formats/Format"
import { stringify } from "@tachograph/formats/json/ExactJson"
import { arrayAt, withAt } from "@tachograph/formats/json/Places"
import { isObject } from "@tachograph/formats/json/Read"
import { identity } from "@tachograph/formats/normal/Identity"
import { quietInstructions } from "@tachograph/formats/normal/Noise"
import { readers } from "@tachograph/formats/WireFormats"

/** The beginning of a conversation in which no user says anything has no more messages. */
const maxOpening = 100

/** The messages up to the first of the user. Those after it are not read. */
const opening = (
  reader: Pick<ConversationReader, "element">,
  elements: ReadonlyArray<unknown>
): ReadonlyArray<Message> => {
  const messages: Array<Message> = []
  for (const element of elements) {
    for (const message of reader.element(element)) {
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

/**
 * A text whose hash names the session of a call: its instructions and its messages up to the first of the user, in normal
 * form. It is the same for each call of a conversation that grows. A conversation that the provider keeps under an id is
 * named by that id. `reader` is that of the format.
 */
export const sessionSeed = (
  api: Api,
  inputs: unknown,
  reader: ConversationReader | undefined = (readers as Partial<typeof readers>)[api]
): string => {
  if (!isObject(inputs) || reader === undefined) return JSON.stringify(inputs) ?? ""
  const kept = conversationIn(inputs)
  if (kept !== null) return JSON.stringify(["conversation", kept])
  const found = arrayAt(inputs, reader.conversationPaths)
  if (found === undefined) return openingOf(reader.messages(inputs, null), [])
  return openingOf(reader.messages(withAt(inputs, found.path, []), null), opening(reader, found.elements))
}
