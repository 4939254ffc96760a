/** Which spans and log records say anything of calls. Nothing but their keys and names is looked at, since most of what programs send does not. */
import type { Attributes } from "./Span.ts"

/** How the keys of attributes begin that say something of a call, a step, or of whose they are. */
const heads = [
  "gen_ai.",
  "ai.",
  "llm.",
  "openinference.",
  "langfuse.",
  "langsmith.",
  "traceloop.",
  "mastra.",
  "genkit:",
  "session.id",
  "user.id",
  "enduser.id",
  "agent.name"
]

const isHead = new RegExp(`^(?:${heads.map((head) => head.replaceAll(".", "\\.")).join("|")})`)

/** Whether a span whose attributes have this key may say something. */
export const isMark = (key: string): boolean => isHead.test(key)

const keyInJson = new RegExp(`"key"\\s*:\\s*"(?:${heads.map((head) => head.replaceAll(".", "\\.")).join("|")})`)

/** The same of the JSON text of a span. */
export const hasMark = (text: string): boolean => keyInJson.test(text)

/** How the names of log records begin that say something of a call. */
const names = [
  "gen_ai.",
  "gemini_cli.api_",
  "api_request",
  "api_response",
  "api_error",
  "claude_code.api_",
  "codex.sse_event"
]

/** Evaluations say something of calls, which nothing keeps yet. */
export const evaluation = "gen_ai.evaluation.result"

export const isTold = (name: string, attributes: Attributes): boolean =>
  name !== evaluation &&
  names.some((head) => name.startsWith(head)) &&
  // One of each event of a stream, and of the last two: the second has the counts.
  (name !== "codex.sse_event" ||
    (attributes.get("event.kind") === "response.completed" && attributes.has("input_token_count")))
