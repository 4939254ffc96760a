/** `generateContent` of Gemini (https://ai.google.dev/api/generate-content), also on Vertex. */
import { whole, type WireFormat } from "../Format.ts"
import { get, isEmpty, isObject, list } from "../json/Read.ts"
import { reader } from "./ModelsConversation.ts"
import { billing, facts } from "./ModelsFacts.ts"
import { accumulator } from "./ModelsStream.ts"

export const wire: WireFormat = {
  ...reader,
  paths: [/\/(?:models|tunedModels|endpoints|dynamic)\/[^/]+:(?:streamG|g)enerateContent$/],
  isCall: (body) => !isEmpty(get(body, "contents")),
  isAnswer: (answer) => isObject(get(answer, "usageMetadata")) && Array.isArray(get(answer, "candidates")),
  accumulator
}

export const Models = /* @__PURE__ */ whole(wire, {
  facts,
  factPaths: [["model"]],
  billing,
  outputIsChoices: true,
  outputPath: (output, index) => {
    if (list(get(output, "candidates")).length === 0) return []
    const path = ["candidates", index]
    return isObject(get(output, ...path, "content")) ? [...path, "content"] : path
  }
})
