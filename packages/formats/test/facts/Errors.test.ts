import { describe, expect, it } from "vitest"
import { errorOf, messageOf } from "../../src/facts/Errors.ts"

describe("an error", () => {
  it.each<[string, unknown, string, number | null, (string | null)?]>([
    [
      "OpenAI's",
      { error: { message: "m", type: "invalid_request_error", param: null, code: "model_not_found" } },
      "invalid_request_error",
      null,
      "model_not_found"
    ],
    [
      "Anthropic's",
      { type: "error", error: { type: "overloaded_error", message: "m" }, request_id: "r" },
      "overloaded_error",
      null
    ],
    [
      "Gemini's",
      { error: { code: 429, message: "m", status: "RESOURCE_EXHAUSTED" } },
      "429",
      429,
      "RESOURCE_EXHAUSTED"
    ],
    [
      "Gemini's in a stream without SSE",
      [{ error: { code: 400, status: "INVALID_ARGUMENT" } }],
      "400",
      400,
      "INVALID_ARGUMENT"
    ],
    ["OpenRouter's", { error: { message: "m", code: 401 } }, "401", 401],
    ["Azure's", { error: { code: "401", message: "m" } }, "401", 401],
    ["Perplexity's", { error: { message: "m", type: "invalid_api_key", code: 401 } }, "invalid_api_key", 401],
    [
      "xAI's",
      { code: "Client specified an invalid argument", error: "m" },
      "Client specified an invalid argument",
      null,
      "Client specified an invalid argument"
    ],
    ["Mistral's", { detail: "Unauthorized" }, "unknown", null],
    ["Mistral's of validation", { detail: [{ loc: ["body"], msg: "m", type: "missing" }] }, "unknown", null],
    [
      "vLLM's",
      { object: "error", message: "m", type: "BadRequestError", param: null, code: 400 },
      "BadRequestError",
      400
    ],
    ["a gateway's", { statusCode: 429, message: "Rate limit is exceeded." }, "429", 429],
    ["Cloudflare's", { success: false, errors: [{ code: 5006, message: "m" }], result: null }, "5006", null, "5006"],
    ["one whose status is no error's", { error: { message: "m", statusCode: 200, status: "204" } }, "unknown", null],
    ["one with a status only", { error: { message: "m", status: 503 } }, "503", 503],
    ["one with nothing", { error: { message: "m", type: "", code: null } }, "unknown", null],
    ["FastAPI's own", { detail: { message: "m", code: "no_key" } }, "no_key", null, "no_key"],
    ["a list of texts", { errors: ["bad key"] }, "unknown", null],
    ["one in a list", { error: [{ code: 400, message: "m" }] }, "400", 400],
    ["one that is only said", { error: true, reason: "m" }, "unknown", null],
    ["Baidu's", { error_code: 336_003, error_msg: "m" }, "336003", null, "336003"],
    ["one with a code", { code: 401, msg: "m" }, "401", 401],
    ["a problem's details", { title: "Unauthorized", status: 401 }, "401", 401],
    ["texts in a list", { error: ["bad key"] }, "unknown", null],
    ["a number", { error: 5 }, "unknown", null],
    ["Apigee's", { fault: { message: "m", code: "x" } }, "x", null, "x"],
    ["one beside keys that say nothing", { message: "m", object: null, text: "" }, "unknown", null],
    ["one in a message", { message: { code: "bad", text: "m" } }, "bad", null, "bad"],
    ["one beside an answer", { choices: [], error: { code: 502, message: "m" } }, "502", 502]
  ])("of a provider is read: %s", (_, body, type, status, code = null) => {
    expect(errorOf(body)).toEqual({ type, code, status })
  })

  it.each<[unknown]>([
    [null],
    [undefined],
    ["text"],
    [[]],
    [{}],
    [{ error: null, status: "completed", output: [] }],
    [{ error: "" }],
    [{ choices: [{ message: {} }], message: "m" }],
    [{ type: "message", content: [], detail: "d" }],
    [{ message: { role: "assistant" } }],
    [{ choices: [], error: {} }],
    [{ title: "A title", status: 200 }]
  ])("is not seen in %j", (body) => {
    expect(errorOf(body)).toBeNull()
  })
})

describe("what an error says", () => {
  it.each<[unknown, string | null]>([
    [{ error: { message: "Incorrect API key", type: "x" } }, "Incorrect API key"],
    [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "Overloaded"],
    [{ error: "overloaded" }, "overloaded"],
    [[{ candidates: [] }, { error: { code: 400, message: "m" } }], "m"],
    [{ success: false, errors: [{ code: 5006, message: "m" }] }, "m"],
    [{ detail: "Not Found" }, "Not Found"],
    [{ detail: [{ loc: ["body"], msg: "missing" }, { msg: "too long" }] }, "missing; too long"],
    [{ message: "Unauthorized" }, "Unauthorized"],
    [{ Message: "denied" }, "denied"],
    [{ choices: [{ message: {} }, { error: { code: 502, message: "m" } }] }, "m"],
    [{ error: { type: "http_502", message: "No JSON.", body: "<html>" } }, "No JSON. <html>"],
    [{ error: { type: "http_404", message: "No JSON.", body: "" } }, "No JSON."],
    [{ error: { name: "AI_APICallError", message: "Failed", cause: { message: "terminated" } } }, "Failed: terminated"],
    [{ error: { name: "AI_RetryError", message: "3 attempts", lastError: { message: "busy" } } }, "busy"],
    [{ error: { type: "x" } }, null],
    [{ error: {} }, null],
    [{}, null],
    [{ choices: [{ message: {} }], message: "m" }, null],
    [{ type: "message", content: [], detail: "d" }, null],
    ["text", null],
    [null, null]
  ])("is read of %j", (output, message) => {
    expect(messageOf(output)).toBe(message)
  })
})
