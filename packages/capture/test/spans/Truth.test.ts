import { describe, expect, it } from "vitest"
import { areThere, runs } from "./Posts.ts"
import { compare } from "./Truth.ts"

/**
 * What emitters tell otherwise than it was: an aspect of calls, of how many calls in each case, and why. In case a nothing is streamed, in b all is, and
 * in c calls fail. What is not here is told as it was: models, tokens, reasons to stop, tools, instructions, messages with all calls of tools and
 * their results, and that an answer has its identity again where it is sent back.
 */
const losses: Readonly<
  Record<string, ReadonlyArray<readonly [aspect: string, calls: Readonly<Record<string, number>>, why: string]>>
> = {
  "codex-otel": [["calls", { a: 3 }, "log records alone tell them"]],
  "gemini-cli-otel": [
    ["calls", { a: 3 }, "the first posts were not kept"],
    ["response_model", { a: 1 }, "not told"],
    ["output_tokens", { a: 1 }, "without thoughts, which a log record has"],
    ["cache_read_tokens", { a: 1 }, "a log record has them"],
    ["reasoning_tokens", { a: 1 }, "a log record has them"],
    ["stop_reason", { a: 1 }, "a log record has it"]
  ],
  genkit: [["calls", { c: 2 }, "one span for a call and its retries"]],
  "genkit-google": [
    ["response_model", { b: 4 }, "not told"],
    ["messages", { b: 3 }, "it wraps results of tools on the wire alone"]
  ],
  langfuse: [
    ["model", { a: 5, c: 2 }, "the answer's alone, where it is not streamed"],
    ["response_model", { a: 5, b: 4, c: 2 }, "the model is one attribute for both"],
    ["stop_reason", { a: 5, b: 4, c: 2 }, "not told"],
    ["answer", { b: 1 }, "a streamed call of a tool is without its id"],
    ["continued", { b: 1 }, "a streamed call of a tool is without its id"],
    ["calls", { c: 1 }, "a stream that broke off is not told"]
  ],
  "langfuse-responses": [
    ["model", { b: 4 }, "the answer's alone"],
    ["response_model", { b: 4 }, "the model is one attribute for both"],
    ["stop_reason", { b: 4 }, "not told"]
  ],
  logfire: [["cache_read_tokens", { a: 3 }, "AI SDK 5 tells them of streams alone"]],
  mastra: [
    ["tools", { a: 5, b: 4, c: 4 }, "not on the call"],
    ["messages", { a: 2, b: 2, c: 1 }, "calls and results of tools are their names in brackets"],
    ["continued", { a: 4, b: 1, c: 1 }, "what was called is a name in brackets when it is sent back"],
    ["thoughts", { b: 1 }, "a stream has its text alone"],
    ["pictures", { b: 1 }, "a file is a word in brackets"]
  ],
  "openai-agents": [["calls", { a: 5 }, "no OpenTelemetry"]],
  "openai-agents-chat": [["calls", { a: 5 }, "no OpenTelemetry"]],
  "openinference-anthropic": [
    ["messages", { c: 1 }, "the span of a stream that broke off is not told, but that of the SDK is"],
    ["instructions", { c: 1 }, "as messages"],
    ["tools", { c: 1 }, "as messages"]
  ],
  "openinference-openai": [
    ["response_model", { b: 4 }, "not told of streams"],
    ["input_tokens", { b: 4 }, "not told of streams"],
    ["output_tokens", { b: 4 }, "not told of streams"],
    ["cache_read_tokens", { b: 2 }, "not told of streams"],
    ["reasoning_tokens", { b: 1 }, "not told of streams"],
    ["calls", { c: 2 }, "failed calls are not told"]
  ],
  "openinference-openai-responses": [["calls", { c: 2 }, "failed calls are not told"]],
  "openinference-vercel": [["cache_read_tokens", { a: 3 }, "AI SDK 5 tells them of streams alone"]],
  openlit: [
    ["messages", { a: 4, b: 3 }, "results of tools are without the ids of their calls"],
    ["tools", { b: 1 }, "not on the call that calls one"],
    ["reasoning_tokens", { b: 1 }, "not told"],
    ["pictures", { b: 1 }, "left out"]
  ],
  "openlit-anthropic": [["calls", { b: 3 }, "the SDK's own span alone tells one"]],
  "otel-contrib-nocontent": [
    ["answer", { a: 5 }, "content is off"],
    ["cache_read_tokens", { a: 3 }, "not told"]
  ],
  "otel-contrib-openai": [
    ["tools", { a: 5, b: 4, c: 3 }, "not told"],
    ["cache_read_tokens", { a: 3, b: 2 }, "not told"],
    ["reasoning_tokens", { b: 1 }, "not told"],
    ["pictures", { b: 1 }, "left out"],
    ["calls", { c: 1 }, "a stream that broke off is not told"]
  ],
  sentry: [
    ["reasoning_tokens", { b: 1 }, "not told"],
    ["error", { c: 1 }, "a stream that broke off is told as one that did not"]
  ],
  "sentry-anthropic": [
    ["tool calls", { b: 1 }, "only the SDK's own spans tell of them, without content"],
    ["answer", { b: 4 }, "only the SDK's own spans tell of them, without content"],
    ["messages", { b: 4 }, "only the SDK's own spans tell of them, without content"],
    ["instructions", { b: 4 }, "only the SDK's own spans tell of them, without content"],
    ["tools", { b: 4 }, "only the SDK's own spans tell of them, without content"],
    ["thoughts", { b: 1 }, "only the SDK's own spans tell of them, without content"],
    ["pictures", { b: 1 }, "only the SDK's own spans tell of them, without content"],
    ["continued", { b: 3 }, "only the SDK's own spans tell of them, without content"]
  ],
  "traceloop-anthropic": [
    ["tools", { a: 5, b: 4, c: 4 }, "not told"],
    ["stop_reason", { b: 4 }, "empty for streams"],
    ["answer", { b: 1 }, "what a tool is called with is an empty object in streams"],
    ["thoughts", { b: 1 }, "left out"],
    ["continued", { b: 1 }, "what a tool is called with is an empty object in streams"]
  ],
  "traceloop-openai": [
    ["cache_read_tokens", { a: 3, b: 1 }, "not told"],
    ["calls", { b: 1, c: 2 }, "failed calls and one stream are not told"],
    ["input_tokens", { b: 3 }, "of streams it counts by itself"],
    ["output_tokens", { b: 3 }, "of streams it counts by itself"],
    ["reasoning_tokens", { b: 1 }, "not told"]
  ],
  "traceloop-openai-responses": [
    ["response_model", { b: 4 }, "of streams nothing of the answer is told"],
    ["input_tokens", { b: 4 }, "of streams nothing of the answer is told"],
    ["output_tokens", { b: 4 }, "of streams nothing of the answer is told"],
    ["stop_reason", { b: 4, c: 1 }, "of streams nothing of the answer is told"],
    ["tool calls", { b: 1, c: 1 }, "not told"],
    ["answer", { b: 4, c: 1 }, "of streams nothing of the answer is told"],
    ["instructions", { b: 4 }, "not told"],
    ["tools", { b: 4 }, "not told"],
    ["cache_read_tokens", { b: 2 }, "of streams nothing of the answer is told"],
    ["reasoning_tokens", { b: 1 }, "of streams nothing of the answer is told"],
    ["thoughts", { b: 1 }, "of streams nothing of the answer is told"],
    ["continued", { b: 3 }, "of streams nothing of the answer is told"],
    ["calls", { c: 2 }, "a stream that broke off is told as a call that worked, and one call is not"],
    ["more calls", { c: 1 }, "a stream that broke off is told as a call that worked"]
  ],
  vercel5: [
    ["cache_read_tokens", { a: 3 }, "told of streams alone"],
    ["thoughts", { b: 1 }, "not told of streams"],
    ["calls", { c: 1 }, "a stream that broke off is not told"]
  ],
  "vercel5-anthropic": [
    ["thoughts", { b: 1 }, "not told of streams"],
    ["calls", { c: 1 }, "a stream that broke off is not told"]
  ],
  "vercel7-default": [["reasoning_tokens", { b: 1 }, "not told without its option"]]
}

describe.runIf(areThere)("calls that real instrumentation tells", () => {
  it.each(runs().map((run) => [run.emitter, run.run, run] as const))(
    "are what they were: %s, %s",
    (emitter, name, run) => {
      const expected = (losses[emitter] ?? []).flatMap(([aspect, calls]) => {
        const count = calls[name.replace("-json", "")]
        return count === undefined ? [] : [[aspect, count] as const]
      })
      const { details, found } = compare(run)
      expect(found, details.join("\n")).toEqual(Object.fromEntries(expected))
    }
  )
})
