/** OpenAI's responses, and those who speak them. */
import * as Kept from "../facts/Kept.ts"
import { whole, type WireFormat } from "../Format.ts"
import { get, isEmpty, text } from "../json/Read.ts"
import { reader } from "./ResponsesConversation.ts"
import { billing, facts } from "./ResponsesFacts.ts"
import { accumulator } from "./ResponsesStream.ts"

export const wire: WireFormat = {
  ...reader,
  paths: [/\/responses(?:\/compact)?$/],
  isCall: (body) => {
    const input = get(body, "input")
    const isInput = (typeof input === "string" && input !== "") || Array.isArray(input)
    return (
      isInput || ["model", "prompt", "previous_response_id", "conversation"].some((key) => !isEmpty(get(body, key)))
    )
  },
  isAnswer: (answer) =>
    /^response(?:\.compaction)?$/.test(text(get(answer, "object") ?? get(answer, "response", "object")) ?? ""),
  accumulator,
  later: {
    ...Kept.later,
    // A response that is cancelled is answered with what it came to.
    requests: [
      ["GET", /\/responses\/([^/]+)$/],
      ["POST", /\/responses\/([^/]+)\/cancel$/]
    ],
    idKey: "response_id"
  }
}

export const Responses = /* @__PURE__ */ whole(wire, {
  facts,
  factPaths: [["model"]],
  billing,
  links: (inputs, output) => ({
    answer: text(get(output, "id")),
    previous: text(get(inputs, "previous_response_id")) ?? text(get(inputs, "response_id")),
    conversation: Kept.conversationIn(inputs)
  }),
  linkKeys: ["previous_response_id", "conversation", "response_id"],
  outputIsChoices: false,
  outputPath: (_, index) => ["output", index]
})
