import { isBilled, maxPaths, otherPaths, PathCounts, pathLabel } from "@tachograph/capture/Unrecognised"
import { describe, expect, it } from "vitest"

describe("a request in none of the formats", () => {
  const request = '{"model": "m"}'

  it.each([
    ["/v1/embeddings", request, '{"data":[],"usage":{"prompt_tokens":1}}'],
    ["/v1/embeddings", '{"model":"m"}', '{"usage" : {}}'],
    ["/v1/audio/transcriptions", 'form-data; name="model"\r\n\r\nwhisper-1', '{"text":"","usage":{"seconds":1}}'],
    ["/v1beta/models/m:generateContent", "{}", 'data: {"usageMetadata":{}}'],
    ["/v1/rerank", request, '{"meta":{"billed_units":{"search_units":1}}}'],
    ["/api/chat", '{"model":"llama3"}', '{"done":true,"prompt_eval_count":4}'],
    ["/model/amazon.titan/invoke", "{}", '{"inputTextTokenCount": 4}'],
    ["/model/mistral.mistral-7b/invoke", '{"prompt":"a"}', '{"outputs":[{"text":"b","stop_reason":"stop"}]}']
  ])("is billed where it names a model and the answer says what was used: %s %s %s", (url, body, answer) => {
    expect(isBilled(url, body, answer)).toBe(true)
  })

  it.each([
    ["/v1/embeddings", request, '{"usage":null}'],
    ["/v1/embeddings", request, '{"usage_bytes":{}}'],
    ["/v1/embeddings", request, JSON.stringify({ error: '{"usage":{"a":1}}' })],
    ["/v1/embeddings", "{}", '{"usage":{}}'],
    ["/v1/embeddings", '{"models":"m"}', '{"usage":{}}'],
    ["/v1/embeddings", request, ""],
    ["/model/mistral.mistral-7b/invoke", '{"prompt":"a"}', '{"message":"The provided request is not valid"}'],
    ["/model/mistral.mistral-7b/invoke", '{"prompt":"a"}', "<html>"],
    ["/model/mistral.mistral-7b/other", '{"prompt":"a"}', '{"outputs":[]}']
  ])("is not billed: %s %s %s", (url, body, answer) => {
    expect(isBilled(url, body, answer)).toBe(false)
  })

  it.each([
    ["https://user:key@host/v1/embeddings?key=secret#here", "/v1/embeddings"],
    ["/openai/deployments/acme-merger/embeddings", "/openai/deployments/*/embeddings"],
    [
      "/v1/projects/acme/locations/eu/publishers/google/models/x:predict",
      "/v1/projects/*/locations/*/publishers/google/models"
    ],
    ["/v1beta/models/secret:batchEmbedContents", "/v1beta/models/*:batchEmbedContents"],
    ["/v1/models/a:b:c", "/v1/models/*:*"],
    ["/v1internal:streamGenerateContent", "/v1internal:streamGenerateContent"],
    ["/v999/__proto__/constructor", "/*/*/*"],
    ["", "/"],
    ["//", "/"]
  ])("has a path that names nobody: %s", (url, path) => {
    expect(pathLabel(url)).toBe(path)
  })

  it("is counted by few paths", () => {
    const counts = new PathCounts()
    const urls = Array.from(
      { length: maxPaths + 2 },
      (_, at) => `/v${at % 10}/chat/${"x/".repeat(Math.floor(at / 10))}`
    )
    const added = urls.map((url) => counts.add(url))
    expect(added.filter(({ isFirst }) => isFirst)).toHaveLength(maxPaths + 1)
    expect(counts.add(urls[0]!)).toEqual({ path: "/v0/chat", isFirst: false })
    expect(Object.keys(counts.all())).toHaveLength(maxPaths + 1)
    expect(counts.all()).toMatchObject({ "/v0/chat": 2, [otherPaths]: 2 })
  })
})
