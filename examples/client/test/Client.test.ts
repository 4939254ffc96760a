/** Runs each program, with a provider and a Tachograph on this machine. */
import { MemoryStorage } from "@tachograph/core"
import { createTachograph } from "@tachograph/router"
import { execFile } from "node:child_process"
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"

const folder = fileURLToPath(new URL("..", import.meta.url))
const run = promisify(execFile)
const key = "a key of the example's own"
const providerKey = "sk-planted-key-of-the-provider"

const serve = async (listener: RequestListener) => {
  const server = createServer(listener).listen(0, "127.0.0.1")
  await once(server, "listening")
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const delta = (delta: object, finish_reason: string | null) => ({
  ...{ id: "c1", object: "chat.completion.chunk", created: 1, model: "m" },
  choices: [{ index: 0, delta, finish_reason }]
})
const ofAnthropic: ReadonlyArray<{ readonly type: string }> = [
  {
    type: "message_start",
    ...{ message: { id: "m1", type: "message", role: "assistant", content: [], usage: { input_tokens: 1 } } }
  },
  { type: "content_block_start", ...{ index: 0, content_block: { type: "text", text: "" } } },
  { type: "content_block_delta", ...{ index: 0, delta: { type: "text_delta", text: "Answered" } } },
  { type: "content_block_stop", ...{ index: 0 } },
  { type: "message_delta", ...{ delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } } },
  { type: "message_stop" }
]
const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`

/** The stream that answers each question. */
const streams: ReadonlyArray<readonly [path: RegExp, stream: string]> = [
  [
    /chat\/completions/,
    `${data(delta({ role: "assistant", content: "Answered" }, null))}${data(delta({}, "stop"))}data: [DONE]\n\n`
  ],
  [/messages/, ofAnthropic.map((event) => `event: ${event.type}\n${data(event)}`).join("")],
  [
    /streamGenerateContent/,
    data({ candidates: [{ content: { role: "model", parts: [{ text: "Answered" }] }, finishReason: "STOP" }] })
  ]
]

let env: NodeJS.ProcessEnv
let tachograph: Awaited<ReturnType<typeof createTachograph>>

beforeAll(async () => {
  tachograph = await createTachograph({ storage: MemoryStorage.layer, thread: false, apiKeys: [key] })
  afterAll(() => tachograph.close())
  const provider = await serve((request, response) => {
    request.resume().once("end", () => {
      response.setHeader("content-type", "text/event-stream")
      response.end(streams.find(([path]) => path.test(request.url!))?.[1])
    })
  })
  env = {
    ...{ PATH: process.env["PATH"], TACHOGRAPH_API_KEY: key, TACHOGRAPH_AGENT: "chat" },
    TACHOGRAPH_URL: await serve((request, response) => tachograph.node(request, response)),
    ...{ OPENAI_API_KEY: providerKey, ANTHROPIC_API_KEY: providerKey, GEMINI_API_KEY: providerKey },
    ...{ OPENAI_BASE_URL: `${provider}/v1`, ANTHROPIC_BASE_URL: provider, GOOGLE_GEMINI_BASE_URL: provider }
  }
})

it.each([
  ["openai", "provider1-chat-completions"],
  ["anthropic", "provider2-messages"],
  ["genai", "provider3-models"],
  ["ai", "aisdk"],
  ["zero-code", "provider1-chat-completions"]
])("%s is recorded, and its key is not", async (name, api) => {
  const before = (await tachograph.api.listEvents()).events.length
  const preload = name === "zero-code" ? ["--import", "@tachograph/client/register"] : []
  const running = run(process.execPath, [...preload, `src/${name}.ts`], { cwd: folder, env })
  running.child.stdin!.end("What?\nAnd then?\n")
  expect(await running).toEqual({ stdout: "Answered\nAnswered\n", stderr: "" })
  // The newest first: it has all that was said.
  const { events } = await tachograph.api.listEvents({ order: "desc" })
  expect(events).toHaveLength(before + 2)
  const text = await tachograph.api.getEvent.text({ event_id: events[0]!.event_id })
  const event = JSON.parse(text)
  expect(event).toMatchObject({ agent: "chat", properties: { api } })
  for (const part of ["What?", "Answered", "And then?"]) expect(JSON.stringify(event.properties.inputs)).toContain(part)
  expect(JSON.stringify(event.properties.output)).toContain("Answered")
  // Otherwise the provider does not say how many tokens the stream took.
  if (api === "provider1-chat-completions") {
    expect(event.properties.inputs).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  }
  expect(text).not.toContain(providerKey)
})
