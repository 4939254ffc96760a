/** The calls of a workload as three instrumentations tell them by OpenTelemetry: one post for each call, with the steps before it. */
import { type Api, formats, type Message, type Part } from "@tachograph/formats"
import { OtlpPosts } from "@tachograph/testkit"
import { createHash } from "node:crypto"

interface Call {
  readonly session: string
  readonly inputs: { readonly model?: string; readonly messages?: ReadonlyArray<unknown> }
  readonly output: {
    readonly stop_reason?: string
    readonly choices?: ReadonlyArray<{ readonly finish_reason?: string }>
  }
  readonly api: Api
  readonly index: number
}

type Attributes = Record<string, unknown>

export interface Emitter {
  readonly name: string
  readonly scope: string
  readonly attributesOf: (call: Call) => Attributes
}

const common = ({ session }: Call, model: unknown) => ({
  "session.id": session,
  "gen_ai.request.model": model,
  "gen_ai.agent.name": "coder"
})

const reasonOf = ({ output }: Call): unknown => output.stop_reason ?? output.choices?.[0]?.finish_reason ?? "stop"

/** As the semantic conventions have it. */
const semconv: Emitter = {
  name: "semantic conventions",
  scope: "gen_ai",
  attributesOf: (call) => {
    const { input, instructions, output, tools } = formats[call.api].messages(call.inputs, call.output)
    const facts = formats[call.api].facts(call.inputs, call.output)
    return {
      ...common(call, facts.model),
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": facts.provider,
      "gen_ai.system_instructions": JSON.stringify(instructions),
      "gen_ai.tool.definitions": JSON.stringify(tools),
      "gen_ai.input.messages": JSON.stringify(input),
      "gen_ai.output.messages": JSON.stringify(output),
      "gen_ai.response.finish_reasons": [reasonOf(call)],
      "gen_ai.usage.input_tokens": facts.input_tokens ?? 0,
      "gen_ai.usage.output_tokens": facts.output_tokens ?? 0
    }
  }
}

const flattened = (head: string, messages: ReadonlyArray<Message>): Attributes => {
  const attributes: Attributes = {}
  for (const [at, { parts, role }] of messages.entries()) {
    attributes[`${head}.${at}.message.role`] = role
    for (const [index, part] of parts.entries()) {
      const content = `${head}.${at}.message.contents.${index}.message_content`
      attributes[`${content}.type`] = part.type
      attributes[`${content}.text`] = String(part["content"] ?? JSON.stringify(part))
    }
  }
  return attributes
}

/** OpenInference: the bodies as they were, and copies of their messages. */
const openInference: Emitter = {
  name: "OpenInference",
  scope: "@arizeai/openinference-instrumentation-openai",
  attributesOf: (call) => {
    const { input, output } = formats[call.api].messages(call.inputs, call.output)
    return {
      ...common(call, call.inputs.model),
      "openinference.span.kind": "LLM",
      "llm.model_name": call.inputs.model,
      "input.value": JSON.stringify(call.inputs),
      "input.mime_type": "application/json",
      "output.value": JSON.stringify(call.output),
      "output.mime_type": "application/json",
      ...flattened("llm.input_messages", input),
      ...flattened("llm.output_messages", output)
    }
  }
}

const modelPart = (part: Part): unknown => {
  switch (part.type) {
    case "tool_call":
      return { type: "tool-call", toolCallId: part["id"], toolName: part["name"], input: part["arguments"] }
    case "tool_call_response":
      return {
        type: "tool-result",
        toolCallId: part["id"],
        toolName: part["name"] ?? "tool",
        output: { type: "json", value: part["response"] ?? null }
      }
    default:
      return { type: part.type === "reasoning" ? "reasoning" : "text", text: String(part["content"] ?? "") }
  }
}

/** The AI SDK, version 5. */
const aiSdk: Emitter = {
  name: "AI SDK 5",
  scope: "ai",
  attributesOf: (call) => {
    const { input, instructions, output, tools } = formats[call.api].messages(call.inputs, call.output)
    const facts = formats[call.api].facts(call.inputs, call.output)
    const parts = output.flatMap((message) => message.parts)
    const system = instructions.map((part) => ({ role: "system", content: String(part["content"] ?? "") }))
    return {
      "ai.operationId": "ai.generateText.doGenerate",
      "ai.telemetry.functionId": "coder",
      "ai.telemetry.metadata.sessionId": call.session,
      "ai.model.provider": facts.provider,
      "ai.model.id": facts.model,
      "ai.prompt.messages": JSON.stringify([
        ...system,
        ...input.map(({ parts, role }) => ({ role, content: parts.map(modelPart) }))
      ]),
      "ai.prompt.tools": tools.map((tool) => JSON.stringify({ type: "function", ...tool })),
      "ai.response.text": parts.map((part) => (part.type === "text" ? String(part["content"]) : "")).join(""),
      "ai.response.toolCalls": JSON.stringify(parts.filter(({ type }) => type === "tool_call").map(modelPart)),
      "ai.response.finishReason": reasonOf(call),
      "gen_ai.usage.input_tokens": facts.input_tokens ?? 0,
      "gen_ai.usage.output_tokens": facts.output_tokens ?? 0
    }
  }
}

export const emitters = [semconv, openInference, aiSdk] as const

const idOf = (text: string, digits: number): string => createHash("sha256").update(text).digest("hex").slice(0, digits)

/** The tools that answered since the call before, each a step of its own. */
const stepsOf = (
  call: Call,
  ids: Pick<OtlpPosts.ShortSpan, "traceId" | "parentSpanId">
): ReadonlyArray<OtlpPosts.ShortSpan> =>
  formats[call.api]
    .messages({ ...call.inputs, messages: call.inputs.messages?.slice(-1) ?? [] }, {})
    .input.flatMap(({ parts }) => parts)
    .filter(({ type }) => type === "tool_call_response")
    .map((part, at) => ({
      ...ids,
      spanId: idOf(`${call.session} ${call.index} tool ${at}`, 16),
      name: "execute_tool",
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "session.id": call.session,
        "gen_ai.tool.call.id": part["id"],
        "gen_ai.tool.call.result":
          typeof part["response"] === "string" ? part["response"] : JSON.stringify(part["response"] ?? "")
      }
    }))

/** The post of a call. */
export const postOf = (body: Buffer, index: number, { attributesOf, scope }: Emitter): object => {
  const event = JSON.parse(body.toString()) as {
    readonly session: string
    readonly properties: Omit<Call, "session" | "index">
  }
  const call = { ...event.properties, session: event.session, index }
  const traceId = idOf(`${call.session} ${index}`, 32)
  const parentSpanId = idOf(`${call.session} ${index} agent`, 16)
  const agent = {
    traceId,
    spanId: parentSpanId,
    name: "invoke_agent coder",
    attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "coder", "session.id": call.session }
  }
  const span = {
    traceId,
    parentSpanId,
    spanId: idOf(`${call.session} ${index} call`, 16),
    name: "chat",
    attributes: attributesOf(call)
  }
  return OtlpPosts.traces([...stepsOf(call, { traceId, parentSpanId }), span, agent], scope, {
    "service.name": "bench"
  })
}
