/** Request bodies and checks that several cases share. */
import { expect } from "vitest"
import type { Answer } from "../HttpClient.ts"

export const iso8601 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
export const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** A valid event. A field that is undefined is omitted. */
export const event = (fingerprint_id: string, fields: Record<string, unknown> = {}) => ({
  event_name: "llm",
  properties: { api: "provider2-messages", inputs: { model: "m" }, output: { role: "assistant" } },
  fingerprint_id,
  session: "s1",
  ...fields
})

/** What a read of `event` adds: the facts of its payload. */
export const eventFacts = {
  provider: "anthropic",
  model: "m",
  response_model: null,
  input_tokens: null,
  output_tokens: null,
  cache_read_tokens: null,
  cache_write_tokens: null,
  reasoning_tokens: null,
  stop_reason: null,
  provider_stop_reason: null,
  tool_calls: null,
  error_type: null,
  error_code: null,
  error_status: null,
  cost_usd: null,
  stated_cost_usd: null,
  list_cost_usd: null,
  price: null,
  price_is_exact: null,
  unpriced_parts: null,
  unpriced: "no-usage"
}

/** The text of a valid event with the texts of a payload. */
export const eventText = (fingerprintId: string, inputs: string, output: string) =>
  `{"event_name":"llm","properties":{"api":"aisdk","inputs":${inputs},"output":${output}},` +
  `"fingerprint_id":"${fingerprintId}","session":"verbatim"}`

/** Expects exactly one validation error. */
export const expectInvalid = (answer: Answer, type: string, ...loc: ReadonlyArray<string>) => {
  expect({ status: answer.status, errors: answer.body?.detail?.map((d: any) => [d.type, ...d.loc]) }).toEqual({
    status: 422,
    errors: [[type, ...loc]]
  })
}

/** Expects an error whose body has only its type. */
export const expectError = (answer: Answer, status: number, type: string) =>
  expect([answer.status, answer.body]).toEqual([status, { type }])

/** Valid names, some of the maximum length. */
export const goodNames = [
  "x".repeat(255),
  "😀".repeat(255),
  " a ",
  "é",
  "e\u0301",
  "a/b;c?d#e%25+&=",
  "\n",
  "...",
  "%2E%2E",
  ". ",
  "null"
]
/** Invalid names, with the type of their validation error. */
export const badNames: ReadonlyArray<readonly [name: string, type: string]> = [
  ["", "string_too_short"],
  ["x".repeat(256), "string_too_long"],
  ["😀".repeat(256), "string_too_long"],
  ["a\u0000b", "value_error"],
  ["a\ud800", "value_error"],
  [".", "value_error"],
  ["..", "value_error"]
]

/** Whether a path can have a name as a segment: clients leave out one of dots, also where they are escaped. */
export const hasPath = (name: string): boolean => name.isWellFormed() && !/^\.{1,2}$/.test(name)
