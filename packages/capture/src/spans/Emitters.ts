/**
 * What a span is by its emitter's own mark: a call of a model, or a step of the agent. Parents repeat what their children say and add up their
 * tokens, so that nothing but the mark counts. What each emitter says is in `docs/opentelemetry.md`.
 */
import type { Attributes, LogRecord, Span } from "./Span.ts"

export type StepKind = "tool" | "agent" | "retrieval" | "embedding" | "chain" | "guardrail" | "other"
export type SpanKind = "call" | StepKind

/** The words of a mark for what a span is, in lower case. */
type Words = Readonly<Record<string, SpanKind>>

const openInference: Words = {
  llm: "call",
  tool: "tool",
  agent: "agent",
  chain: "chain",
  retriever: "retrieval",
  reranker: "retrieval",
  embedding: "embedding",
  guardrail: "guardrail"
}

const langfuse: Words = { ...openInference, generation: "call", llm: "other" }

const genkit: Words = {
  model: "call",
  tool: "tool",
  embedder: "embedding",
  retriever: "retrieval",
  flow: "chain",
  flowstep: "chain",
  prompt: "chain"
}

const mastra: Words = {
  model_inference: "call",
  tool_call: "tool",
  mcp_tool_call: "tool",
  agent_run: "agent",
  model_generation: "chain",
  model_step: "chain",
  workflow_run: "chain",
  workflow_step: "chain",
  processor_run: "guardrail"
}

/** The operations of the semantic conventions, and those that programs add to them. */
const operations: Words = {
  chat: "call",
  completion: "call",
  generate_content: "call",
  generate_text: "call",
  llm_call: "call",
  responses: "call",
  stream_text: "call",
  text_completion: "call",
  execute_tool: "tool",
  create_agent: "agent",
  invoke_agent: "agent",
  embeddings: "embedding",
  retrieval: "retrieval",
  agent_step: "chain",
  handoff: "chain",
  invoke_workflow: "chain",
  pipeline: "chain"
}

const aiSdk: Words = {
  "ai.generatetext.dogenerate": "call",
  "ai.generateobject.dogenerate": "call",
  "ai.streamtext.dostream": "call",
  "ai.streamobject.dostream": "call",
  "ai.toolcall": "tool",
  "ai.embed.doembed": "embedding",
  "ai.embedmany.doembed": "embedding",
  "ai.generatetext": "agent",
  "ai.streamtext": "agent",
  "ai.generateobject": "agent",
  "ai.streamobject": "agent"
}

const traceloop: Words = { tool: "tool", agent: "agent", workflow: "chain", task: "chain" }

const claudeCode: Words = { llm_request: "call", tool: "tool", interaction: "agent" }

interface Mark {
  readonly key: string
  readonly words: Words
  /** What stands before the word. */
  readonly head?: string
}

/** The first that a span has says what it is: some emitters add their marks to the spans of another. */
const marks: ReadonlyArray<Mark> = [
  { key: "openinference.span.kind", words: openInference },
  { key: "langfuse.observation.type", words: langfuse },
  { key: "genkit:metadata:subtype", words: genkit },
  { key: "genkit:type", words: genkit },
  { key: "mastra.span.type", words: mastra },
  { key: "ai.operationId", words: aiSdk },
  { key: "langsmith.span.kind", words: openInference },
  { key: "span.type", words: claudeCode },
  { key: "gen_ai.operation.name", words: operations },
  { key: "sentry.op", words: operations, head: "gen_ai." },
  { key: "traceloop.span.kind", words: traceloop },
  { key: "llm.request.type", words: operations }
]

const markKeys = new Set([...marks.map(({ key }) => key), "genkit:name"])

/** Whether a key says what a span is. */
export const isMarkOfKind = (key: string): boolean => markKeys.has(key)

/** Whether only a parent says this of its calls. */
export const isOfParent = (key: string): boolean =>
  ["mastra.model_step.input", "mastra.model_step.output", "mastra.metadata.body"].includes(key)

/** Undefined for a span that says at most whose its children are. */
export const kindOf = ({ attributes }: { readonly attributes: Attributes }): SpanKind | undefined => {
  for (const { head = "", key, words } of marks) {
    const said = attributes.get(key)
    if (typeof said !== "string" || !said.startsWith(head)) continue
    return words[said.slice(head.length).toLowerCase()] ?? "other"
  }
  return undefined
}

/**
 * What may complete a call: its parent has the messages; log records have the content, or counts; or the SDK below made a span of its own for
 * the same call.
 */
export type Completion = "parent" | "logs" | "sibling"

/** By the names of scopes. A span of any other is complete as it comes. */
const completions: ReadonlyArray<readonly [scope: RegExp, by: Completion]> = [
  [/^@mastra\//, "parent"],
  [/^@opentelemetry\/instrumentation-openai$/, "logs"],
  [/^opentelemetry\.instrumentation\.(?:openai_v2|openai_agents|google_genai|vertexai|botocore)/, "logs"],
  [/^opentelemetry\.util\.genai/, "logs"],
  [/^gemini-cli$/, "logs"],
  [/^com\.anthropic\.claude_code/, "logs"],
  // The SDK for TypeScript makes spans of its own.
  [/^com\.anthropic\.sdk\.typescript$/, "sibling"],
  [/^@.*anthropic/, "sibling"]
]

export const completionOf = ({ scope }: Pick<Span, "scope">): Completion | undefined =>
  completions.find(([pattern]) => pattern.test(scope.name))?.[1]

/** Emitters that say on each call whose it is, where the application says so at all. For others an ancestor may still say it. */
const selfSufficient = /^(?:ai|langfuse-sdk|gemini-cli|codex_otel\..*|com\.anthropic\.claude_code\..*)$/

export const isSelfSufficient = ({ scope }: Pick<Span, "scope">): boolean => selfSufficient.test(scope.name)

/** Where the messages of a call stand. */
const contentKeys =
  /^(?:gen_ai\.(?:input|output)\.messages|gen_ai\.(?:prompt|completion)\b|gen_ai\.response\.(?:text|tool_calls)|ai\.(?:prompt|response\.text)|(?:input|output)\.value|llm\.(?:input|output)_messages|langfuse\.observation\.(?:input|output)|genkit:(?:input|output)|mastra\.)/

/** Whether a call has its messages, or counts alone. */
export const hasContent = ({ attributes }: { readonly attributes: Attributes }): boolean => {
  for (const key of attributes.keys()) if (contentKeys.test(key)) return true
  return false
}

/** Whether the answer stands on a span as the provider gave it, with its counts. */
export const hasWholeAnswer = ({ attributes }: Span): boolean => {
  const answer = attributes.get("output.value")
  return typeof answer === "string" && answer.startsWith("{")
}

/** Some emitters write this record twice: also before the call, without what is known only then. */
const details = "gen_ai.client.inference.operation.details"

const isOfEnd = (key: string): boolean => /^(?:gen_ai\.(?:output\.messages$|response\.|usage\.)|error\.type$)/.test(key)

/** Log records that have the end of a call. */
export const isAnswer = ({ attributes, name }: LogRecord): boolean =>
  name === details
    ? Array.from(attributes.keys()).some(isOfEnd)
    : /^(?:gen_ai\.choice|gemini_cli\.api_(?:response|error)|(?:claude_code\.)?api_(?:request|error|response_body))$/.test(
        name
      )

/** Log records that tell a call by themselves, where no span does. */
const telling =
  /^(?:claude_code\.)?(?:api_request|api_error)$|^gen_ai\.client\.inference\.operation\.details$|^codex\.sse_event$|^gen_ai\.(?:\w+\.message|choice)$/

/** The messages of a call, one by one: those of a call that was broken off may have no span. */
const isMessage = /^gen_ai\.(?:\w+\.message|choice)$/

export const isTelling = ({ name, scope, spanId }: LogRecord): boolean =>
  // Gemini CLI has a span of each call, but not all of its records name it. A message alone is none without its span.
  scope.name !== "gemini-cli" && telling.test(name) && (spanId !== "" || !isMessage.test(name))
