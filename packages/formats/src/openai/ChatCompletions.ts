/** Chat completions, of OpenAI and of the many that speak them. */
import { hasMessages } from "../facts/CallBodies.ts"
import { whole, type WireFormat } from "../Format.ts"
import { get, isObject, text } from "../json/Read.ts"
import { reader } from "./ChatCompletionsConversation.ts"
import { billing, facts } from "./ChatCompletionsFacts.ts"
import { accumulator } from "./ChatCompletionsStream.ts"

export const wire: WireFormat = {
  ...reader,
  paths: [/\/chat\/completions$/],
  isCall: hasMessages,
  isAnswer: (answer) =>
    (text(get(answer, "object")) ?? "").startsWith("chat.completion") && Array.isArray(get(answer, "choices")),
  accumulator,
  // Deferred completions of xAI.
  later: {
    requests: [["GET", /\/chat\/deferred-completion\/([^/]+)$/]],
    idKey: "request_id",
    idIn: (inputs, output) => (get(inputs, "deferred") === true ? get(output, "request_id") : undefined),
    isRunning: () => true,
    isEnd: (output) => Array.isArray(get(output, "choices")),
    isBackground: () => true
  }
}

export const ChatCompletions = /* @__PURE__ */ whole(wire, {
  facts,
  factPaths: [["model"]],
  billing,
  links: (inputs, output) => ({
    answer: text(get(output, "request_id")),
    previous: text(get(inputs, "request_id")),
    conversation: null
  }),
  linkKeys: ["request_id"],
  outputIsChoices: true,
  outputPath: (output, index) => {
    const path = ["choices", index]
    return isObject(get(output, ...path, "message")) ? [...path, "message"] : path
  }
})
