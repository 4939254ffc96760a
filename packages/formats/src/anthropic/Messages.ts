/** Anthropic's messages (https://platform.claude.com/docs/en/api/messages), also from Bedrock, Vertex and gateways. */
import { hasMessages } from "../facts/CallBodies.ts"
import { whole, type WireFormat } from "../Format.ts"
import { get, isEmpty, isObject } from "../json/Read.ts"
import { reader } from "./MessagesConversation.ts"
import { billing, facts } from "./MessagesFacts.ts"
import { accumulator } from "./MessagesStream.ts"

export const wire: WireFormat = {
  ...reader,
  // In threads, OpenAI keeps messages that are no calls.
  paths: [/\/messages(?<!\/threads\/[^/]+\/messages)$/],
  isCall: hasMessages,
  isAnswer: (answer) => {
    const message = get(answer, "type") === "message_start" ? get(answer, "message") : answer
    return get(message, "type") === "message" && isObject(get(message, "usage"))
  },
  accumulator,
  // Newer SDKs of Anthropic say only in the header that a call is one of the beta, and on Bedrock in the body.
  variant: {
    api: "provider2-beta-messages",
    is: ({ betaHeader, body, query }) =>
      /(?:^|&)beta=true(?:&|$)/.test(query) || !isEmpty(betaHeader) || !isEmpty(get(body, "anthropic_beta"))
  }
}

export const Messages = /* @__PURE__ */ whole(wire, {
  facts,
  factPaths: [["model"], ["anthropic_version"]],
  billing,
  // A stream begins with a count of its output, and says what that was when it has stopped.
  isCut: (output) => get(output, "stop_reason") === null,
  outputIsChoices: false,
  outputPath: () => []
})
