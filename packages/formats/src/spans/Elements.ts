/** The messages of calls that spans tell, whichever emitter's shape they have: each shape is told by what only it has. */
import { reader as anthropic } from "../anthropic/MessagesConversation.ts"
import { messageOf as aiSdkMessage, partsOf as aiSdkParts } from "../aisdk/Parts.ts"
import type { Json, JsonObject, Message, Part } from "../Format.ts"
import { reader as google } from "../google/ModelsConversation.ts"
import { parsedOrSame } from "../json/ExactJson.ts"
import { get, isEmpty, isObject, list, many, rest, says, text } from "../json/Read.ts"
import { argumentsOf, media, messageFrom, part } from "../normal/Parts.ts"
import { reader as chat } from "../openai/ChatCompletionsConversation.ts"
import { reader as responses } from "../openai/ResponsesConversation.ts"
import * as Genkit from "./Genkit.ts"
import * as LangChain from "./LangChain.ts"
import * as OpenInference from "./OpenInference.ts"

const except = (...keys: ReadonlyArray<string>): ReadonlySet<string> => new Set(keys)

/** A part of the semantic conventions. Older emitters have a few names of their own. */
const conventional = (item: Json): ReadonlyArray<Part> | null => {
  const type = get(item, "type")
  const content = get(item, "content")
  // Of parts that they have no attributes for, emitters tell the type alone.
  if (isObject(item) && text(type) !== null && Object.keys(item).length === 1) return []
  switch (type) {
    case "text":
    case "reasoning":
    case "thinking": {
      if (typeof content !== "string") return null
      const extras = rest(item, except("type", "content"))
      return content === "" && isEmpty(extras) ? [] : [part(type === "text" ? type : "reasoning", { content }, extras)]
    }
    case "tool_call": {
      const given = argumentsOf(get(item, "arguments"))
      return [
        part(
          type,
          { id: get(item, "id"), name: get(item, "name"), arguments: given },
          rest(item, except("type", "id", "name", "arguments"))
        )
      ]
    }
    case "tool_call_response": {
      const key = ["response", "result", "content"].find((name) => says(item, name)) ?? "response"
      return [part(type, { id: get(item, "id"), response: get(item, key) }, rest(item, except("type", "id", key)))]
    }
    case "blob":
    case "uri":
    case "file": {
      const data = text(get(item, "content")) ?? text(get(item, "data")) ?? undefined
      const url = text(get(item, "uri")) ?? undefined
      const fileId = text(get(item, "file_id")) ?? undefined
      if ((data ?? url ?? fileId) === undefined) return null
      return [
        media(
          {
            data,
            url,
            fileId,
            mimeType: text(get(item, "mime_type")) ?? undefined,
            modality: text(get(item, "modality")) ?? undefined
          },
          rest(item, except("type", "content", "data", "uri", "file_id", "mime_type", "modality"))
        )
      ]
    }
    default:
      return null
  }
}

export const partsOf = (parts: Json | undefined): ReadonlyArray<Part> =>
  (Array.isArray(parts) ? list(parts) : [parts ?? null]).flatMap((item) => conventional(item) ?? aiSdkParts(item))

/** What a tool says is its result, also where an emitter writes it as a text, without the id of the call. */
const partsOfMessage = ({ parts, role }: JsonObject): ReadonlyArray<Part> => {
  const read = partsOf(parts)
  return role === "tool" && read.every(({ type }) => type === "text")
    ? read.map((each) => part("tool_call_response", { response: each["content"] }))
    : read
}

/** The messages that these texts stand for: the whole input of a call, of which its emitter makes one text. */
const within = (message: JsonObject): ReadonlyArray<Json> | null => {
  const [only, ...others] = list(message["parts"])
  const said = text(get(only, "content"))
  if (others.length > 0 || said === null || !/^\[\s*\{/.test(said)) return null
  const items = parsedOrSame(said)
  return list(items).length > 0 &&
    list(items).every((item) => (says(item, "role") ? says(item, "content") : isItem(item)))
    ? list(items)
    : null
}

/** Calls in a shape of early emitters: without an object for the function. */
const callOf = (call: Json): Json =>
  isObject(call) && !says(call, "function") && !says(call, "custom") && says(call, "name")
    ? {
        ...rest(call, except("name", "arguments", "type")),
        type: "function",
        function: rest({ name: call["name"]!, arguments: call["arguments"] ?? null })
      }
    : call

/** A message of chat completions, with what emitters change in it. */
const chatMessage = (message: JsonObject): ReadonlyArray<Message> => {
  const isResult = message["role"] === "tool" && text(message["tool_call_id"]) === null && text(message["id"]) !== null
  const { id, ...others } = message
  const calls = many(message["tool_calls"]).map(callOf)
  return chat.element({
    ...(isResult ? { ...others, tool_call_id: id } : message),
    role: text(message["role"]) ?? "assistant",
    tool_calls: calls
  })
}

const typesOf = (content: Json | undefined): ReadonlyArray<string> =>
  list(content).map((block) => text(get(block, "type")) ?? "")

const some = (content: Json | undefined, pattern: RegExp): boolean =>
  typesOf(content).some((type) => pattern.test(type))

/** An item of OpenAI's responses that is no message. */
const isItem = (message: unknown): boolean =>
  !says(message, "role") && /^(?:reasoning|\w+_call(?:_output)?)$/.test(text(get(message, "type")) ?? "")

const ofAnthropic = /^(?:\w*tool_use|\w*tool_result|thinking|redacted_thinking)$/
const hasSource = (content: Json | undefined): boolean => list(content).some((block) => says(block, "source", "type"))

interface Shape {
  readonly is: (message: JsonObject) => boolean
  readonly read: (message: JsonObject) => ReadonlyArray<Message>
}

/** An object that came as its JSON text. */
const textedObject = (value: Json | undefined): JsonObject | null => {
  const read = typeof value === "string" ? argumentsOf(value) : undefined
  return isObject(read) ? read : null
}

const contentKey = "gen_ai.event.content"

/** The first that a message has is its own. */
const shapes: ReadonlyArray<Shape> = [
  { is: LangChain.is, read: (message) => element(LangChain.plain(message)) },
  { is: OpenInference.is, read: (message) => element(OpenInference.plain(message)) },
  // Of the attributes of an event, what is the content is JSON.
  {
    is: (message) => textedObject(message[contentKey]) !== null,
    read: ({ role, ...event }) => element({ ...rest({ role: role ?? null }), ...textedObject(event[contentKey]) })
  },
  // A choice of an answer, in a log record or an event.
  {
    is: ({ message }) => isObject(argumentsOf(message)),
    read: ({ message, finish_reason: reason }) =>
      chatMessage({ role: "assistant", ...(argumentsOf(message) as JsonObject) }).map((read) => ({
        ...read,
        ...rest({ finish_reason: reason ?? null })
      }))
  },
  { is: (message) => isItem(message) || some(message["content"], /^(?:input|output)_/), read: responses.element },
  {
    is: ({ parts }) => Array.isArray(parts) && parts.length > 0 && typesOf(parts).every((type) => type === ""),
    read: (message) => google.element(message).map(Genkit.joined)
  },
  {
    is: ({ parts }) => Array.isArray(parts),
    read: (message) =>
      within(message)?.flatMap(element) ?? [
        messageFrom(message, text(message["role"]) ?? "user", partsOfMessage(message), "parts")
      ]
  },
  { is: Genkit.is, read: (message) => [Genkit.joined(Genkit.messageOf(message))] },
  { is: ({ content }) => some(content, ofAnthropic) || hasSource(content), read: anthropic.element },
  {
    is: ({ content, role, ...others }) =>
      ["tool_calls", "tool_call_id", "function_call", "refusal", "reasoning_content"].some((key) =>
        Object.hasOwn(others, key)
      ) ||
      (role === "tool" && typeof content === "string") ||
      some(content, /^(?:image_url|input_audio|video_url|audio_url|document_url)$/),
    read: chatMessage
  }
]

/** Early emitters have a list of blocks as its text. */
const withBlocks = (message: JsonObject): JsonObject => {
  const said = text(message["content"])
  const blocks = said !== null && /^\[\{"type": ?"/.test(said) ? parsedOrSame(said) : undefined
  return Array.isArray(blocks) ? { ...message, content: blocks } : message
}

/** Names that frameworks have for roles. */
const roles: ReadonlyMap<unknown, string> = new Map([
  ["model", "assistant"],
  ["ai", "assistant"],
  ["human", "user"]
])

export const element = (value: unknown): ReadonlyArray<Message> => {
  if (!isObject(value)) return [aiSdkMessage(value as Json)]
  const named = { ...value, ...(roles.has(value["role"]) ? { role: roles.get(value["role"])! } : {}) }
  const message = withBlocks(named)
  const shape = shapes.find(({ is }) => is(message))
  return shape?.read(message) ?? [aiSdkMessage(message)]
}
