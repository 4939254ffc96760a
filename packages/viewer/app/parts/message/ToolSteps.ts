/** What the step of a tool, as tracing tells it, says of the tool's call: each emitter has its own keys. */
import * as ExactJson from "../../server/ExactJson.ts"
import type { Part, Step } from "../../server/Types.ts"
import { listIn } from "../Recorded.ts"

const idKeys = ["gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool_use_id"]

const nameKeys = [
  "gen_ai.tool.name",
  "ai.toolCall.name",
  "tool.name",
  "tool_name",
  "traceloop.entity.name",
  "genkit:name"
]

const argumentKeys = [
  "gen_ai.tool.call.arguments",
  "ai.toolCall.args",
  "gen_ai.tool.input",
  "tool_arguments",
  "input.value",
  "genkit:input",
  "langfuse.observation.input"
]

const resultKeys = [
  "gen_ai.tool.call.result",
  "ai.toolCall.result",
  "gen_ai.tool.output",
  "tool_response",
  "output.value",
  "genkit:output",
  "langfuse.observation.output",
  "traceloop.entity.output"
]

const keyIn = ({ attributes }: Step, keys: ReadonlyArray<string>): string | undefined =>
  keys.find((key) => Object.hasOwn(attributes, key))

const textIn = (step: Step, keys: ReadonlyArray<string>): string | undefined => {
  const value = step.attributes[keyIn(step, keys) ?? ""]
  return typeof value === "string" && value !== "" ? value : undefined
}

export const idOf = (step: Step): string | undefined => textIn(step, idKeys)

export const nameOf = (step: Step): string => textIn(step, nameKeys) ?? step.name

/** The value of JSON in a text; any other value as it is. */
const valueIn = (step: Step, key: string): unknown => {
  const value = step.attributes[key]
  if (typeof value !== "string") return value
  try {
    return ExactJson.parse(value)
  } catch {
    return value
  }
}

/**
 * The same text for objects with the same fields in another order; undefined for what is no object. A number that is kept as it was
 * written has no prototype by then.
 */
const canonical = (value: unknown): string | undefined =>
  typeof value !== "object" || value === null
    ? undefined
    : JSON.stringify(value, (_key, each: unknown) =>
        typeof each === "object" && each !== null && Object.getPrototypeOf(each) === Object.prototype
          ? Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))
          : each
      )

/** What the tool was given, as a text that can be compared with that of a call; undefined where it cannot. */
export const argumentsOf = (step: Step): string | undefined => {
  const key = keyIn(step, argumentKeys)
  return key === undefined ? undefined : canonical(valueIn(step, key))
}

export const argumentsIn = (call: Part): string | undefined => canonical(call["arguments"])

/** What stands where an emitter has left the answers out (Mastra). */
const placeholder = /^\s*(?:\[tool-result: [^\]]*\]\s*)+$/

export const isPlaceholder = ({ response }: Part): boolean => typeof response === "string" && placeholder.test(response)

const answers = new WeakMap<Step, Part>()

/** What the tool answered, as a part of a message would have it: always the same object. Undefined where the step does not tell it. */
export const answerOf = (step: Step): Part | undefined => {
  const key = keyIn(step, resultKeys)
  if (key === undefined) return undefined
  const known = answers.get(step)
  if (known !== undefined) return known
  const answer = { type: "tool_call_response", response: valueIn(step, key) }
  answers.set(step, answer)
  return answer
}

/** Whether the end of the answer is missing. */
export const isAnswerCut = (step: Step): boolean => listIn(step, "cut").includes(keyIn(step, resultKeys) ?? "")
