/** The title of a session: what the user said first. */
import { type Api, formats, type Message } from "@tachograph/formats"
import { arrayAt } from "@tachograph/formats/json/Places"
import * as Noise from "@tachograph/formats/normal/Noise"

/** Characters of a title, as code points. */
const maxCharacters = 200

/** Elements of the conversation that are read. What stands before the first words of a user is short. */
const maxElements = 100

const textsOf = ({ parts }: Message): ReadonlyArray<string> =>
  parts.flatMap(({ content, type }) => (type === "text" && typeof content === "string" ? [content.trim()] : []))

/** In one line. Cuts before the text is split, because it may be long. */
const cut = (text: string): string => {
  const line = text.slice(0, 64 * maxCharacters).replaceAll(/\s+/g, " ")
  return Array.from(line.slice(0, 2 * maxCharacters))
    .slice(0, maxCharacters)
    .join("")
    .trim()
}

function* messagesOf(api: Api, inputs: unknown): Generator<Message> {
  const format = formats[api]
  const elements = arrayAt(inputs, format.conversationPaths)?.elements
  if (elements === undefined) return yield* format.messages(inputs, null).input
  for (const element of elements.slice(0, maxElements)) yield* format.element(element)
}

/**
 * The first user's words in the inputs of a call, in one line of at most 200 characters. Skips context that an agent has injected,
 * unless the user says nothing else. Null if no user says anything.
 */
export const titleOf = (api: Api, inputs: unknown): string | null => {
  let other: string | null = null
  for (const message of messagesOf(api, inputs)) {
    if (message.role !== "user") continue
    const texts = textsOf(message).filter((text) => text !== "")
    const words = texts.filter((text) => !Noise.isInjected(text))
    if (words.length > 0) return cut(words.join(" "))
    other ??= texts.length > 0 ? cut(texts.join(" ")) : null
  }
  return other
}
