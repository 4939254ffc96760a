/** Calls to Bedrock: what AWS signed passes as it was signed, and what its frames say is recorded. */
import { expect, it, vi } from "vitest"
import { chunkFrame, eventFrame } from "../../../../scripts/vitest/BedrockFrames.ts"
import { proxyTo, send, withKey } from "./Client.ts"
import { upstream } from "./Upstream.ts"

const model = "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabcdef123456"
const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cacheReadInputTokens: 100 }
const content = [{ text: "ok" }]
const converse = { output: { message: { role: "assistant", content } }, stopReason: "end_turn", usage }
const request = { system: [{ text: "Be brief." }], messages: [{ role: "user", content: [{ text: "hi" }] }] }
const native = { anthropic_version: "bedrock-2023-05-31", messages: [{ role: "user", content: "hi" }] }

const stream = [
  eventFrame("messageStart", { role: "assistant" }),
  eventFrame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "ok" } }),
  eventFrame("messageStop", { stopReason: "end_turn" }),
  eventFrame("metadata", { usage })
]
const message = { id: "msg_bdrk_1", type: "message", role: "assistant", model: "claude-x", content: [] }
const own = [
  chunkFrame({ type: "message_start", message: { ...message, usage: { input_tokens: 10, output_tokens: 1 } } }),
  chunkFrame({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } }),
  chunkFrame({ type: "message_stop" })
]
const damaged = Buffer.from(own[1]!)
damaged[damaged.length - 1]! ^= 1

const [json, framed] = ["application/json", "application/vnd.amazon.eventstream"]

it("are counted where no format is theirs, though their frames say nothing of tokens in plain", async () => {
  const { url } = await upstream((response) => {
    response.writeHead(200, { "content-type": framed }).end(chunkFrame({ generation: "ok", prompt_token_count: 1 }))
  })
  const { port, tachograph } = await proxyTo(url)
  const path = "/proxy/local/model/meta.llama3/invoke-with-response-stream"
  await send(port, path, { headers: { ...withKey, "content-type": json }, body: '{"prompt":"hi"}' })
  await vi.waitFor(
    async () => {
      const metrics = await (await tachograph.fetch(new Request("http://host/metrics"))).text()
      expect(metrics).toContain('unrecognised_calls_total{path="/model/*/invoke-with-response-stream"} 1')
    },
    { timeout: 60_000, interval: 5 }
  )
})

it("are recorded, in the formats of their models, and pass as they are", async () => {
  let answer: readonly [type: string, body: Buffer]
  const { received, url } = await upstream((response) => {
    const [type, body] = answer
    response.writeHead(200, { "content-type": type }).end(body)
  })
  const { port, tachograph } = await proxyTo(url)
  const authorization = `AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20261129/us-east-1/bedrock/aws4_request, Signature=${"a1".repeat(32)}`
  const signed = { authorization, "x-amz-date": "20261129T000000Z", "content-type": json }
  const cases = [
    [`/model/${model}/invoke-with-response-stream`, native, framed, Buffer.concat(own)],
    [`/model/${model}/invoke-with-response-stream`, native, framed, Buffer.concat([own[0]!, damaged, own[2]!])],
    ["/model/us.anthropic.claude-x/converse", request, json, Buffer.from(JSON.stringify(converse))],
    ["/model/us.anthropic.claude-x/converse-stream", request, framed, Buffer.concat(stream)],
    [`/model/${model}/converse-stream`, request, framed, Buffer.concat(stream)],
    ["/model/amazon.nova-pro-v1%3A0/converse", request, json, Buffer.from('{"message":"Malformed input"}')]
  ] as const
  for (const [path, body, ...answered] of cases) {
    answer = answered
    const headers = { ...withKey, ...signed }
    const { body: passed } = await send(port, `/proxy/local${path}`, { headers, body: JSON.stringify(body) })
    expect(passed.equals(answer[1])).toBe(true)
  }
  expect(received.map(({ url }) => url)).toEqual(cases.map(([path]) => path))
  for (const { headers } of received)
    expect(Object.fromEntries(headers)).toMatchObject({ ...signed, Host: new URL(url).host })

  const events = await vi.waitFor(
    async () => {
      const { events } = await tachograph.api.listEvents({ order: "asc" })
      expect(events).toHaveLength(cases.length)
      return events
    },
    { timeout: 60_000, interval: 5 }
  )
  const [messages, chat] = ["provider2-messages", "provider1-chat-completions"]
  const counted = { input_tokens: 110, output_tokens: 5, cache_read_tokens: 100, stop_reason: "end", error_type: null }
  expect(events).toMatchObject([
    { api: messages, input_tokens: 10, output_tokens: 5, stop_reason: "end", recorded: null, provider: "aws" },
    { api: messages, input_tokens: 10, stop_reason: null, error_type: "cut" },
    { api: messages, ...counted, model: "us.anthropic.claude-x", recorded: { rebuilt: true }, provider: "aws" },
    { api: messages, ...counted },
    { api: chat, ...counted, model: decodeURIComponent(model), recorded: { rebuilt: true }, provider: "aws" },
    { api: chat, input_tokens: null }
  ])
  const texts = await Promise.all(events.map(({ event_id }) => tachograph.api.getEvent.text({ event_id })))
  expect(texts.join()).not.toContain("a1".repeat(32))
  // The same conversation, whatever the call.
  expect(new Set(events.slice(2, 4).map(({ session }) => session)).size).toBe(1)
})
