/** Gemini's interactions (https://ai.google.dev/api/interactions-api), and those that had `outputs` in place of `steps`. */
import * as Kept from "../facts/Kept.ts"
import { whole, type WireFormat } from "../Format.ts"
import { get, isEmpty, text } from "../json/Read.ts"
import { reader } from "./InteractionsConversation.ts"
import { billing, facts } from "./InteractionsFacts.ts"
import { accumulator } from "./InteractionsStream.ts"

export const wire: WireFormat = {
  ...reader,
  paths: [/\/interactions$/],
  isCall: (body) => ["model", "agent", "input"].some((key) => !isEmpty(get(body, key))),
  isAnswer: (answer) =>
    get(answer, "object") === "interaction" || (text(get(answer, "event_type")) ?? "").startsWith("interaction."),
  accumulator,
  later: {
    ...Kept.later,
    requests: [
      ["GET", /\/interactions\/([^/]+)$/],
      ["POST", /\/interactions\/([^/]+)[/:]cancel$/]
    ],
    idKey: "interaction_id",
    // Google's agents work in the background.
    isBackground: (output) => Kept.later.isBackground(output) || text(get(output, "agent")) !== null
  }
}

export const Interactions = /* @__PURE__ */ whole(wire, {
  facts,
  factPaths: [["model"], ["agent"]],
  billing,
  links: (inputs, output) => ({
    answer: text(get(output, "id")),
    previous: text(get(inputs, "previous_interaction_id")) ?? text(get(inputs, "interaction_id")),
    conversation: null
  }),
  linkKeys: ["previous_interaction_id", "interaction_id"],
  outputIsChoices: false,
  outputPath: (output, index) => [Array.isArray(get(output, "steps")) ? "steps" : "outputs", index]
})
