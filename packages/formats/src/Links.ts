/** How a call names the one that it continues, where the provider keeps the conversation and its history is not sent again. */
import type { Api } from "./Format.ts"
import { get, text } from "./json/Read.ts"

export interface Links {
  /** The id of the answer, by which a later call may continue it. */
  readonly answer: string | null
  /** The id of the answer that the call continues. */
  readonly previous: string | null
  /** The id of the conversation that the call is added to. */
  readonly conversation: string | null
}

/** Parameters that are links, and so differ from call to call. */
export const linkKeys: ReadonlySet<string> = new Set([
  "previous_response_id",
  "previous_interaction_id",
  "conversation",
  // Of what an earlier call has begun, where nothing more is known of that: see `Endings.ts`.
  "response_id",
  "interaction_id",
  "request_id"
])

/** The id of the conversation of a request or an answer, which may be all that is said of it. */
export const conversationIn = (value: unknown): string | null =>
  text(get(value, "conversation", "id") ?? get(value, "conversation"))

const none: Links = { answer: null, previous: null, conversation: null }

/** `inputs` need not hold the messages. */
export const links = (api: Api, inputs: unknown, output: unknown): Links => {
  const answer = text(get(output, "id"))
  switch (api) {
    case "provider1-responses": {
      const previous = text(get(inputs, "previous_response_id")) ?? text(get(inputs, "response_id"))
      return { answer, previous, conversation: conversationIn(inputs) }
    }
    case "provider3-interactions": {
      const previous = text(get(inputs, "previous_interaction_id")) ?? text(get(inputs, "interaction_id"))
      return { answer, previous, conversation: null }
    }
    case "provider1-chat-completions":
      return { ...none, answer: text(get(output, "request_id")), previous: text(get(inputs, "request_id")) }
    default:
      return none
  }
}
