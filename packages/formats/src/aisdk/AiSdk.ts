/**
 * Calls of Vercel's AI SDK (https://ai-sdk.dev), versions 4 to 7: what its functions take and return, what a middleware sees,
 * and what its telemetry hands out.
 */
import type { Format } from "../Format.ts"
import { get, isObject, list } from "../json/Read.ts"
import { reader } from "./Conversation.ts"
import { billing, facts } from "./Facts.ts"
import { accumulator } from "./Stream.ts"

export const AiSdk: Format<unknown> = {
  ...reader,
  facts,
  factPaths: [
    ["model"],
    ["provider"],
    ["modelId"],
    ["model", "modelId"],
    ["model", "provider"],
    ["ai.model.id"],
    ["ai.model.provider"],
    ["gen_ai.request.model"],
    ["gen_ai.system"]
  ],
  billing,
  outputIsChoices: false,
  outputPath: (output, index) =>
    list(get(output, "responseMessages")).some(isObject) ? ["responseMessages", index] : null,
  accumulator
}
