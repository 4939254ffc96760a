/** Calls of an agent, of which questions are asked: at the terminal, by HTTP and in the viewer, with the same answers. */
import { expect } from "vitest"
import type { Client } from "./HttpClient.ts"

const said = (role: string, content: string) => ({ role, content })
const user = (words: string) => said("user", words)

/** What OpenAI answers, in its own words. */
const completion = (words: string, finish_reason = "stop") => ({
  model: "gpt-4o",
  choices: [{ index: 0, message: said("assistant", words), finish_reason }],
  usage: { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010 }
})

const tooMany = {
  error: {
    message:
      "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29500. Please try again in 412ms.",
    type: "tokens",
    param: null,
    code: "rate_limit_exceeded"
  }
}

const noModel = {
  error: {
    message: "The model `gpt-9` does not exist or you do not have access to it.",
    type: "invalid_request_error",
    param: null,
    code: "model_not_found"
  }
}

/** Both versions speak of refunds in their instructions. */
const instructionsOf = (version: string) =>
  `You help customers. A refund takes three days.\nBe ${version === "v1" ? "short" : "kind"}.`

/** Noon of yesterday, in UTC. */
const yesterday = () => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() - 1, 12)).toISOString()
}

/** Records a call of `support`, and returns its id. */
type Record = (version: string, person: string, session: string, call: object) => Promise<string>

const recordOf =
  (client: Client, fingerprint_id: string): Record =>
  async (agent_version, person, session, call) => {
    const names = { agent: "support", agent_version, person, session }
    const answer = await client.post("/api/v1/events", {
      ...{ event_name: "llm", fingerprint_id, duration_ms: 1_200 },
      ...names,
      ...call
    })
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("event_id")])
    return answer.body.event_id
  }

const chatOf = (version: string, words: string, output: object) => ({
  api: "provider1-chat-completions",
  inputs: {
    model: "gpt-4o",
    temperature: version === "v1" ? 0 : 1,
    messages: [said("system", instructionsOf(version)), user(words)]
  },
  output
})

/** A session whose tools change with its third call: the cache, which has 20,000 tokens by then, fails. */
const recordExpensive = async (record: Record) => {
  const messages: Array<object> = [user("Find all open orders.")]
  const tools: Array<object> = [{ name: "find", input_schema: { type: "object" } }]
  for (const [index, [read, write]] of [
    [0, 20_000],
    [20_000, 500],
    [0, 21_000]
  ].entries()) {
    if (index === 2) tools.push({ name: "send", input_schema: { type: "object" } })
    const content = [{ type: "tool_use", id: `t${index}`, name: "find", input: { page: index } }]
    const output = {
      ...{ type: "message", role: "assistant", model: "claude-sonnet-4-5", content, stop_reason: "tool_use" },
      usage: {
        input_tokens: 3,
        output_tokens: 50,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: write
      }
    }
    const inputs = {
      ...{ model: "claude-sonnet-4-5", max_tokens: 1000, system: instructionsOf("v2") },
      tools: [...tools],
      messages: [...messages]
    }
    const properties = { api: "provider2-messages", inputs, output }
    await record("v2", "bob", "order-4715", { duration_ms: index === 1 ? 9_400 : 2_000, properties })
    const result = { type: "tool_result", tool_use_id: `t${index}`, content: `Orders of page ${index}` }
    messages.push({ role: "assistant", content }, { role: "user", content: [result] })
  }
}

/** Records them by a client whose key may. Returns the ids of the call that was tried again and of the one that did. */
export const record = async (client: Client): Promise<{ readonly failed: string; readonly retry: string }> => {
  const fingerprint = { language: "typescript", language_version: "7", system: "linux" }
  const record = recordOf(client, (await client.put("/api/v1/fingerprints", fingerprint)).body.fingerprint_id)
  const chat = (version: string, person: string, session: string, words: string, output: object, fields = {}) =>
    record(version, person, session, { properties: chatOf(version, words, output), ...fields })
  const before = { occurred_at: yesterday() }
  await chat("v1", "ann", "order-4701", "Can I have a refund?", completion("You can."), before)
  await chat("v1", "bob", "order-4702", "Where is my parcel?", completion("Near you."), before)
  await chat("v1", "ann", "order-4711", "Where is refund 4711?", completion("It is on its way."))
  await chat("v2", "bob", "order-4712", "Tell me a story.", completion("Once upon a", "length"))
  // As an SDK tries again by itself: the same bytes, after the pause that the provider asked for.
  const [first, second] = [5_000, 4_000].map((ms) => ({ occurred_at: new Date(Date.now() - ms).toISOString() }))
  const limited = { ...first, duration_ms: 180, http_status: 429 }
  const failed = await chat("v2", "bob", "order-4713", "Hello?", tooMany, limited)
  const retry = await chat("v2", "bob", "order-4713", "Hello?", completion("Hi."), { ...second, http_status: 200 })
  await recordExpensive(record)
  await chat("v2", "bob", "order-4714", "Are you new?", noModel, { duration_ms: 90, http_status: 404 })
  return { failed, retry }
}
