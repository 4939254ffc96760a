/** What the attributes of a call are of: its request or its answer, and which of them hold JSON. */

/** How the names begin of what is known only when the answer comes. All others are of the request. */
const ofAnswer = [
  ...["gen_ai.response.", "gen_ai.usage.", "gen_ai.output.", "gen_ai.completion", "gen_ai.server.", "gen_ai.client."],
  ...["gen_ai.tool.name", "gen_ai.tool.call", "gen_ai.tool.args", "gen_ai.cost"],
  ...["ai.response.", "ai.usage.", "ai.result.", "ai.finishReason", "ai.stream."],
  ...["llm.output_messages", "llm.token_count.", "llm.usage.", "llm.finish_reason", "llm.choices", "llm.cost."],
  ...["llm.response.", "llm.completions", "output."],
  ...["langfuse.observation.output", "langfuse.observation.usage", "langfuse.observation.cost"],
  ...["langfuse.observation.completion_start_time", "langfuse.observation.level", "langfuse.observation.status"],
  ...["genkit:output", "genkit:state"],
  ...["mastra.model_step.output", "mastra.agent_run.output", "mastra.model_generation.output", "mastra.model_chunk."],
  ...["mastra.metadata.body", "mastra.metadata.headers", "mastra.completion_start_time"],
  ...["openai.response.", "gen_ai.openai.response.", "anthropic.response.", "anthropic.usage.", "anthropic.message."],
  ...["http.response.", "http.status_code", "error.", "exception."],
  // Of Claude Code, Codex and Gemini CLI.
  ...["input_token", "output_token", "cache_read_tokens", "cache_creation_", "cached_", "reasoning_token", "thoughts_"],
  ...["tool_token_count", "total_token_count", "cost_usd", "duration_ms", "ttft_ms", "first_content_ms"],
  ...["stop_reason", "finish_reasons", "response_text", "status_code"]
]

export const isOfAnswer = (key: string): boolean => ofAnswer.some((head) => key.startsWith(head))

/** Names, and beginnings of names that end with a dot, of attributes with messages, tools, parameters or bodies. */
const json = [
  ...["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions", "gen_ai.tool.definitions"],
  ...["gen_ai.request.available_tools", "gen_ai.response.tool_calls", "gen_ai.prompt", "gen_ai.completion"],
  ...["ai.prompt", "ai.prompt.messages", "ai.prompt.toolChoice", "ai.response.toolCalls"],
  ...["llm.invocation_parameters", "llm.input_messages", "llm.output_messages", "llm.tools"],
  ...["langfuse.observation.input", "langfuse.observation.output", "langfuse.observation.model.parameters"],
  ...["langfuse.observation.metadata.", "genkit:input", "genkit:output"],
  ...["mastra.model_step.input", "mastra.model_step.output", "mastra.metadata.body", "mastra.metadata.headers"],
  ...["response_text", "model_request_parameters"]
]

const [names, beginnings] = [new Set(json), json.filter((name) => name.endsWith("."))]

/** OpenInference says with each value of what type it is, and calls it a text where it says nothing. */
const typed: ReadonlyMap<string, string> = new Map([
  ["input.value", "input.mime_type"],
  ["output.value", "output.mime_type"]
])

/** Whether a text of this name that is JSON stands in an event as that JSON. `typeOf` gives the text of another attribute. */
export const holdsJson = (key: string, typeOf: (key: string) => unknown): boolean => {
  const type = typed.get(key)
  if (type !== undefined) return typeOf(type) === "application/json"
  return names.has(key) || beginnings.some((beginning) => key.startsWith(beginning))
}
