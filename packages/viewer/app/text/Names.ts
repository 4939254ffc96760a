/** What people call what the wire calls otherwise. */

const apis: Readonly<Record<string, string>> = {
  "provider1-chat-completions": "OpenAI Chat Completions",
  "provider1-responses": "OpenAI Responses",
  "provider2-messages": "Anthropic Messages",
  "provider2-beta-messages": "Anthropic Messages, beta",
  "provider3-models": "Gemini generateContent",
  "provider3-interactions": "Gemini Interactions",
  aisdk: "AI SDK"
}

/** The interface of a provider that a call used. */
export const ofApi = (api: string): string => apis[api] ?? api

const vendors: Readonly<Record<string, string>> = {
  provider1: "OpenAI",
  provider2: "Anthropic",
  provider3: "Gemini",
  service: "Tachograph",
  git: "Git",
  sdk: "SDK",
  url: "URL"
}

/** A field of a runtime: `provider1_sdk_version` is “OpenAI SDK version”. */
export const ofField = (field: string): string => {
  const words = field
    .split("_")
    .map((word) => vendors[word] ?? word)
    .join(" ")
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const ends: Readonly<Record<string, string>> = {
  stop: "finished",
  end_turn: "finished",
  length: "token limit",
  max_tokens: "token limit",
  tool_call: "called a tool",
  tool_calls: "called a tool",
  tool_use: "called a tool",
  content_filter: "content filter"
}

/** Why a model stopped. */
export const ofEnd = (reason: string): string => ends[reason] ?? reason.replaceAll("_", " ")

interface Runtime {
  readonly language: string
  readonly language_version: string
  readonly system: string
}

/** What a program ran on: `typescript 24.21.0, linux`. */
export const ofRuntime = ({ language, language_version, system }: Runtime): string => {
  const known = (...parts: ReadonlyArray<string>) => parts.filter((part) => part !== "" && part !== "unknown")
  return known(known(language, language_version).join(" "), system).join(", ") || "unknown runtime"
}
