/**
 * What clients put into a request that changes with the call or the session, and asks nothing of the model. It is recorded and shown as it is,
 * and left out of all by which calls are compared: the one rule of seeds, identities and configurations.
 */
import type { JsonObject, Message, Part } from "../Format.ts"
import { isEmpty, isObject } from "../json/Read.ts"
import { type Instructed, instructionsOf, isInstruction, rulesOfProject, textOf } from "./Instructions.ts"

const billing = "x-anthropic-billing-header:"

/**
 * Claude Code begins its instructions with hashes of the conversation and of the request, as fields that end with semicolons. It sends them as
 * a block, which some gateways join with what follows.
 */
const billingLine = new RegExp(`(^|\\n)${billing}(?:[^\\S\\n]*[\\w-]+=[^;\\n]*(?:;|(?=\\n|$)))*\\s*`, "g")

/** A text that has it, without it; undefined for all others. */
const quieted = ({ content, type }: Part): string | undefined =>
  type === "text" && typeof content === "string" && content.includes(billing)
    ? content.replace(billingLine, "$1")
    : undefined

const quietPart = (part: Part): ReadonlyArray<Part> => {
  const content = quieted(part)
  if (content === undefined) return [part]
  return content === "" ? [] : [{ ...part, content }]
}

/** Instructions without noise. */
export const quietInstructions = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> => parts.flatMap(quietPart)

/** All instructions of a call as one text, without noise: by which two calls are compared. */
export const instructionsText = (of: Instructed): string =>
  quietInstructions(instructionsOf(of)).map(textOf).join("\n\n")

/** Many providers have instructions among the messages. What others say is not changed. */
export const quietParts = (message: Message): ReadonlyArray<Part> =>
  isInstruction(message) ? quietInstructions(message.parts) : message.parts

/** Context that an agent has put into the user's message: nothing but an element, such as `<system-reminder>…</system-reminder>`. */
const injected = /^<([\w-]+)[^>]*>[^]*<\/\1>$/

/** How opencode asks for a title of its own, before the words of the user. */
const askingForTitle = "Generate a title for this conversation:"

/** Whether a client said the text, and not the user. */
export const isInjected = (text: string): boolean =>
  text === askingForTitle || injected.test(text) || rulesOfProject.test(text)

/** Whether a message is of a user, and has nothing but what a client said. */
export const isContext = ({ parts, role }: Message): boolean =>
  role === "user" &&
  parts.length > 0 &&
  parts.every(({ content, type }) => type === "text" && typeof content === "string" && isInjected(content.trim()))

/** They name the call, its session or the person it is for. */
const naming: ReadonlySet<string> = new Set([
  "client_metadata",
  "litellm_session_id",
  "litellm_trace_id",
  "prompt_cache_key",
  "safety_identifier",
  "session_id",
  "user"
])

const namingOfMetadata: ReadonlySet<string> = new Set(["session_id", "trace_id", "user_id"])

const without = (value: JsonObject, names: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !names.has(key)))

/** Parameters without names. */
export const quietParameters = (parameters: JsonObject): JsonObject => {
  const { metadata, ...rest } = without(parameters, naming)
  if (!isObject(metadata)) return metadata === undefined ? rest : { ...rest, metadata }
  const tags = without(metadata, namingOfMetadata)
  return isEmpty(tags) ? rest : { ...rest, metadata: tags }
}
