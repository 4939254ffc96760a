/**
 * Makes a store for `test/kept` with the tree as it is, before a release: `node packages/server/scripts/keepStore.ts NAME`. README.md says
 * what it has. A store is never made again: it must stay what its version wrote.
 */
import { spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"

const [name] = process.argv.slice(2)
if (name === undefined) throw new Error("Expected the name of the store")
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const main = here("../src/main.ts")
const folder = mkdtempSync(join(tmpdir(), "tachograph-kept-"))
const tachograph = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [main, ...args], { cwd: folder, encoding: "utf8" })

const server = spawn(process.execPath, [main, "serve", "--port", "0"], { cwd: folder })
const url = await new Promise<string>((resolve) => {
  let text = ""
  server.stdout.on("data", (bytes) => {
    text += String(bytes)
    const found = /^Docs +(http:\S+)\/docs$/m.exec(text)
    if (found !== null) resolve(found[1]!)
  })
})

/** The secret and the id of a new key. */
const keyOf = (project: string, ...args: ReadonlyArray<string>): readonly [secret: string, id: string] => {
  const { stderr, stdout } = tachograph("keys", "create", "--project", project, ...args)
  return [stdout.trim(), /key_\w+/.exec(stderr)![0]]
}
const [admin] = keyOf("default", "--scope", "admin", "--name", "kept")
const [reader] = keyOf("default", "--scope", "read", "--name", "reads", "--expires", "5200w")
const [other] = keyOf("other project", "--scope", "record,read", "--name", "other")
const [revoked, revokedId] = keyOf("default", "--name", "revoked")
tachograph("keys", "revoke", revokedId)

const ask = async (key: string, method: string, path: string, body?: unknown, headers: object = {}) => {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}

const fingerprint = { language: "javascript", language_version: "24", system: "linux", provider1_sdk_version: "6.1.0" }
const fingerprints = new Map<string, string>()
for (const key of [admin, other]) {
  fingerprints.set(key, (await ask(key, "PUT", "/fingerprints", fingerprint)).fingerprint_id)
}
await ask(admin, "PUT", "/people", { person_id: "ann", properties: { plan: "pro", name: "Ann \u0000 Ångström" } })
await ask(admin, "PUT", "/agents", { agent_name: "support", description: "Answers customers" })
for (const agent_version_name of ["v1", "v2"]) {
  await ask(admin, "PUT", "/agents/support/agent-versions", {
    agent_version_name,
    description: `Version ${agent_version_name}`
  })
}
await ask(admin, "POST", "/agents/support/agent-versions/v1/deprecate")

interface Conversation {
  readonly api: string
  readonly inputs: (turns: number) => object
  readonly output: (turn: number) => object
}

/** Long enough to be shared within the project. */
const document = Array.from({ length: 300 }, (_, n) => `Paragraph ${n}: refunds take ${n % 7} days. `).join("")
const instructions = `You help customers. ${document}`
const words = (turn: number) => `Question ${turn}: where is refund 47${turn}? Grüße 🙂`
const turnsOf = <A>(turns: number, of: (turn: number) => ReadonlyArray<A>) =>
  Array.from({ length: turns }, (_, turn) => of(turn)).flat()
const look = (turn: number) => JSON.stringify({ order: turn })
const schema = { type: "object", properties: { order: { type: "integer", description: "The order. ".repeat(100) } } }

const conversations: ReadonlyArray<Conversation> = [
  {
    api: "openai-chat-completions",
    inputs: (turns) => ({
      model: "gpt-5-mini",
      tools: [{ type: "function", function: { name: "look", parameters: schema } }],
      messages: [
        { role: "system", content: instructions },
        ...turnsOf(turns, (turn) => [
          { role: "user", content: words(turn) },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: `c${turn}`, type: "function", function: { name: "look", arguments: look(turn) } }]
          },
          { role: "tool", tool_call_id: `c${turn}`, content: `Order ${turn} is on its way` }
        ])
      ]
    }),
    output: (turn) => ({
      model: "gpt-5-mini-2025-08-07",
      choices: [
        {
          index: 0,
          finish_reason: "tool_calls",
          message: {
            role: "assistant",
            content: null,
            tool_calls: [{ id: `c${turn}`, type: "function", function: { name: "look", arguments: look(turn) } }]
          }
        }
      ],
      usage: { prompt_tokens: 1_000 + turn, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 512 } }
    })
  },
  {
    api: "openai-responses",
    inputs: (turns) => ({
      model: "gpt-5",
      instructions,
      tools: [{ type: "function", name: "look", parameters: schema }],
      input: turnsOf(turns, (turn) => [
        { role: "user", content: words(turn) },
        { type: "function_call", call_id: `c${turn}`, name: "look", arguments: look(turn) },
        { type: "function_call_output", call_id: `c${turn}`, output: `Order ${turn}` }
      ])
    }),
    output: (turn) => ({
      status: "completed",
      model: "gpt-5-2025-08-07",
      output: [{ type: "function_call", call_id: `c${turn}`, name: "look", arguments: look(turn) }],
      usage: {
        input_tokens: 900,
        output_tokens: 30,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 10 }
      }
    })
  },
  ...["anthropic-messages", "anthropic-beta-messages"].map((api) => ({
    api,
    inputs: (turns: number) => ({
      model: "claude-sonnet-4-5",
      max_tokens: 1024,
      system: instructions,
      tools: [{ name: "look", input_schema: schema }],
      messages: turnsOf(turns, (turn): ReadonlyArray<object> => [
        { role: "user", content: words(turn) },
        { role: "assistant", content: [{ type: "tool_use", id: `t${turn}`, name: "look", input: { order: turn } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: `t${turn}`, content: `Order ${turn}` }] }
      ])
    }),
    output: (turn: number) => ({
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5-20250929",
      content: [
        { type: "text", text: `On its way (${turn})` },
        { type: "tool_use", id: `t${turn}`, name: "look", input: { order: turn } }
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 100, cache_read_input_tokens: 50, cache_creation_input_tokens: 25, output_tokens: 12 }
    })
  })),
  {
    api: "gemini-models",
    inputs: (turns) => ({
      model: "gemini-3-pro-preview",
      systemInstruction: { parts: [{ text: instructions }] },
      contents: turnsOf(turns, (turn) => [
        { role: "user", parts: [{ text: words(turn) }] },
        { role: "model", parts: [{ functionCall: { name: "look", args: { order: turn } } }] },
        { role: "user", parts: [{ functionResponse: { name: "look", response: { order: turn } } }] }
      ])
    }),
    output: (turn) => ({
      modelVersion: "gemini-3-pro-preview",
      candidates: [
        {
          content: { role: "model", parts: [{ functionCall: { name: "look", args: { order: turn } } }] },
          finishReason: "STOP"
        }
      ],
      usageMetadata: { promptTokenCount: 70, candidatesTokenCount: 9, thoughtsTokenCount: 5, totalTokenCount: 84 }
    })
  },
  {
    api: "gemini-interactions",
    inputs: (turns) => ({
      model: "gemini-3-pro-preview",
      system_instruction: instructions,
      input: turnsOf(turns, (turn) => [{ role: "user", content: [{ type: "text", text: words(turn) }] }])
    }),
    output: (turn) => ({
      status: "completed",
      model: "gemini-3-pro-preview",
      outputs: [{ type: "text", text: `On its way (${turn})` }],
      usage: { total_input_tokens: 60, total_output_tokens: 7, total_tokens: 67 }
    })
  },
  {
    api: "aisdk",
    inputs: (turns) => ({
      model: { provider: "openai.responses", modelId: "gpt-5" },
      system: instructions,
      messages: turnsOf(turns, (turn) => [
        { role: "user", content: words(turn) },
        {
          role: "assistant",
          content: [{ type: "tool-call", toolCallId: `c${turn}`, toolName: "look", input: { order: turn } }]
        },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: `c${turn}`,
              toolName: "look",
              output: { type: "text", value: `Order ${turn}` }
            }
          ]
        }
      ])
    }),
    output: (turn) => ({
      finishReason: "tool-calls",
      content: [{ type: "tool-call", toolCallId: `c${turn}`, toolName: "look", input: { order: turn } }],
      usage: { inputTokens: 80, outputTokens: 8, totalTokens: 88 }
    })
  }
]

const lines: Array<string> = []
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

const record = async (
  key: string,
  session: string,
  fields: object,
  api: string,
  inputs: string,
  output: string,
  headers = {}
) => {
  const own = JSON.stringify({ event_name: "llm", fingerprint_id: fingerprints.get(key), session, ...fields })
  // The texts as they are, with spaces that no serialiser writes.
  const body = `${own.slice(0, -1)},"properties":{"api":${JSON.stringify(api)},"inputs":${inputs},"output":${output}}}`
  const { event_id } = await ask(key, "POST", "/events", body, headers)
  if (!session.startsWith("erased")) lines.push([event_id, session, sha256(inputs), sha256(output)].join(" "))
}

for (const { api, inputs, output } of conversations) {
  for (let turn = 0; turn < 5; turn++) {
    const fields = {
      agent: turn % 2 ? "support" : "default",
      agent_version: turn % 2 ? `v${1 + (turn % 4 === 1 ? 0 : 1)}` : undefined,
      person: ["ann", "bob", undefined][turn % 3],
      occurred_at: "2026-01-02T03:04:05.678Z",
      duration_ms: 1_234.5,
      first_token_ms: 200,
      http_status: 200,
      trace_id: "0af7651916cd43dd8448eb211c80319c",
      span_id: "b7ad6b7169203331",
      metadata: { turn, tenant: "Zürich" }
    }
    const spaced = JSON.stringify(inputs(turn + 1), undefined, turn % 2)
    await record(admin, `session-${api}`, fields, api, spaced, JSON.stringify(output(turn)), {
      "idempotency-key": `${api}-${turn}`
    })
  }
}
const failed = { error: { type: "rate_limit_error", message: "slow down" } }
await record(
  admin,
  "failed",
  { http_status: 429 },
  "openai-responses",
  '{ "model":"gpt-5", "input":"1e400" }',
  JSON.stringify(failed)
)
await record(admin, "odd", {}, "aisdk", '{"n":1.0,"big":12345678901234567890,"a":"\\ud800","a":2}', '{ "text":null }')
await record(
  other,
  "theirs",
  { agent: "bot" },
  "aisdk",
  '{"messages":[{"role":"user","content":"Hello"}]}',
  '{"text":"Hi"}'
)
for (let turn = 0; turn < 3; turn++) {
  const inputs = JSON.stringify({ messages: [{ role: "user", content: `A secret of Carl, told ${turn} times` }] })
  await record(admin, "erased", { person: "carl" }, "aisdk", inputs, "{}")
  await record(admin, "erased by person", { person: "dora" }, "aisdk", inputs, "{}")
}
await ask(admin, "DELETE", "/sessions/erased")
await ask(admin, "DELETE", "/people/dora")
// All events are in the rollups, and what was erased is scrubbed.
await sleep(6_000)
const usage: Record<string, unknown> = {}
for (const group of ["api", "agent", "person", "day", "hour"]) {
  usage[group] = (await ask(reader, "GET", `/usage?group_by=${group}`)).usage
}
server.kill("SIGTERM")
await new Promise((resolve) => server.once("exit", resolve))

const verified = tachograph("verify")
if (verified.status !== 0) throw new Error(verified.stdout + verified.stderr)
writeFileSync(here(`../test/kept/${name}.db.gz`), gzipSync(readFileSync(join(folder, "tachograph.db")), { level: 9 }))
writeFileSync(
  here(`../test/kept/${name}.json`),
  `${JSON.stringify({ keys: { admin, reader, other, revoked }, usage, events: lines }, undefined, 1)}\n`
)
rmSync(folder, { recursive: true })
console.log(verified.stdout)
