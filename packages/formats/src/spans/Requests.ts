/** What a span says was asked for: instructions, tools, parameters and messages. */
import { toolOf as aiSdkTool } from "../aisdk/Conversation.ts"
import { partsOf as aiSdkParts } from "../aisdk/Parts.ts"
import type { Json, JsonObject, Message, Part } from "../Format.ts"
import { reader as google } from "../google/ModelsConversation.ts"
import { arrayAt } from "../json/Places.ts"
import { get, isEmpty, isObject, many, rest, says } from "../json/Read.ts"
import { argumentsOf } from "../normal/Parts.ts"
import { toolOf as openAiTool } from "../openai/Blocks.ts"
import { scopeOf, valueAt } from "./Attributes.ts"
import { element, partsOf } from "./Elements.ts"

type Place = readonly [attribute: string, ...path: ReadonlyArray<string | number>]

/** Where the messages are: the first that is an array. The first two are the AI SDK's own. */
export const conversations: ReadonlyArray<Place> = [
  ["messages"],
  ["prompt"],
  ["ai.prompt.messages"],
  ["ai.prompt", "messages"],
  ["ai.prompt", "prompt"],
  ["gen_ai.input.messages"],
  ["mastra.model_step.input"],
  ["mastra.model_step.input", "messages"],
  ["langfuse.observation.input", "messages"],
  ["langfuse.observation.input"],
  ["genkit:input", "messages"],
  // LangChain has a list of conversations, of which each call is one.
  ["input.value", "messages", 0],
  ["input.value", "messages"],
  ["input.value"],
  ["llm.input_messages"],
  ["gen_ai.prompt"]
]

const instructions: ReadonlyArray<Place> = [
  ["ai.prompt", "system"],
  ["gen_ai.system_instructions"],
  ["langfuse.observation.metadata.instructions"],
  ["input.value", "system"],
  ["langfuse.observation.input", "system"]
]

/** Emitters that repeat as instructions what is the first of the messages. */
const repeating = /^@(?:openlit\/instrumentation-openai$|mastra\/)/

const definitions: ReadonlyArray<Place> = [
  ["ai.prompt.tools"],
  ["gen_ai.tool.definitions"],
  ["gen_ai.request.available_tools"],
  ["langfuse.observation.input", "tools"],
  ["langfuse.observation.metadata.tools"],
  ["genkit:input", "tools"],
  // Pydantic AI.
  ["model_request_parameters", "function_tools"],
  ["llm.invocation_parameters", "tools"],
  ["llm.tools"],
  ["llm.request.functions"]
]

/** Objects of parameters. What else is in them has its place elsewhere, or names the call. */
const settings: ReadonlyArray<Place> = [
  ["llm.invocation_parameters"],
  ["langfuse.observation.model.parameters"],
  ["genkit:input", "config"]
]

const otherSettings = new Set(["model", "messages", "input", "system", "instructions", "tools", "functions"])

/** How the names of parameters begin. All other attributes tell of the call, its session or its time. */
const parameter =
  /^(?:gen_ai\.request\.|gen_ai\.openai\.request\.|openai\.request\.|ai\.settings\.(?!context\.)|ai\.schema|ai\.prompt\.toolChoice$)/

const choiceKey = "ai.prompt.toolChoice"

const notParameters = new Set(["gen_ai.request.model", "gen_ai.request.available_tools"])

const at = (inputs: unknown, [attribute, ...path]: Place): Json | undefined => get(valueAt(inputs, attribute), ...path)

const find = (inputs: unknown, places: ReadonlyArray<Place>): Json | undefined =>
  places.map((place) => at(inputs, place)).find((value) => !isEmpty(value))

export const messagesIn = (inputs: unknown): ReadonlyArray<Message> => {
  const found =
    arrayAt(inputs, conversations)?.elements ?? conversations.map((place) => at(inputs, place)).find(Array.isArray)
  return (found ?? many(find(inputs, conversations))).flatMap((value: Json) => element(value))
}

export const instructionsIn = (inputs: unknown): ReadonlyArray<Part> => {
  if (repeating.test(scopeOf(inputs))) return []
  const found = find(inputs, instructions)
  if (!isObject(found))
    return many(found).flatMap((item) => (typeof item === "string" ? aiSdkParts(item) : partsOf(item)))
  return partsOf(get(found, "parts") ?? get(found, "content") ?? found)
}

/** A definition of a tool, in the shape of any provider. */
const toolsOf = (tool: Json): ReadonlyArray<JsonObject> => {
  const read = argumentsOf(get(tool, "tool.json_schema") ?? tool) ?? null
  if (says(read, "functionDeclarations")) return google.messages({ tools: [read] }, null).tools
  if (says(read, "function")) return [openAiTool(read)]
  const { input_schema, parameters_json_schema, parameters, ...others } = isObject(read) ? read : {}
  const schema = input_schema ?? parameters_json_schema
  if (!isObject(read)) return [aiSdkTool(read)]
  return [aiSdkTool({ ...others, ...rest({ parameters: schema ?? argumentsOf(parameters) ?? null }) })]
}

export const toolsIn = (inputs: unknown): ReadonlyArray<JsonObject> => many(find(inputs, definitions)).flatMap(toolsOf)

export const parametersIn = (inputs: unknown): JsonObject => {
  const own = Object.keys(isObject(inputs) ? inputs : {}).filter(
    (key) => parameter.test(key) && !notParameters.has(key)
  )
  const objects = settings.flatMap((place) => Object.entries(rest(at(inputs, place), otherSettings)))
  const attributes = own.map(
    (key) => [key, (key === choiceKey ? valueAt(inputs, key) : get(inputs, key)) ?? null] as const
  )
  return rest(Object.fromEntries<Json>([...objects, ...attributes]))
}
