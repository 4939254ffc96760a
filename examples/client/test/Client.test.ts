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

const chunk = { id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "Answered" } }] }
const answers: ReadonlyArray<readonly [path: RegExp, answer: object]> = [
  [
    /chat\/completions/,
    {
      ...{ id: "c1", object: "chat.completion", created: 1, model: "m" },
      choices: [{ index: 0, message: { role: "assistant", content: "Answered" }, finish_reason: "stop" }]
    }
  ],
  [/messages/, { id: "m1", type: "message", role: "assistant", content: [{ type: "text", text: "Answered" }] }],
  [/generateContent/, { candidates: [{ content: { role: "model", parts: [{ text: "Answered" }] } }] }]
]

let env: NodeJS.ProcessEnv
let tachograph: Awaited<ReturnType<typeof createTachograph>>

beforeAll(async () => {
  tachograph = await createTachograph({ storage: MemoryStorage.layer, thread: false, apiKeys: [key] })
  afterAll(() => tachograph.close())
  const provider = await serve(async (request, response) => {
    let body = ""
    for await (const part of request) body += String(part)
    if (body.includes('"stream":true')) {
      response.setHeader("content-type", "text/event-stream")
      return void response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
    }
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify(answers.find(([path]) => path.test(request.url!))?.[1] ?? {}))
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
  const before = (await tachograph.recorder.listEvents()).events.length
  const preload = name === "zero-code" ? ["--import", "@tachograph/client/register"] : []
  const program = [...preload, `src/${name}.ts`, "What?"]
  expect(await run(process.execPath, program, { cwd: folder, env })).toEqual({ stdout: "Answered\n", stderr: "" })
  // The newest first.
  const { events } = await tachograph.recorder.listEvents({ order: "desc" })
  expect(events).toHaveLength(before + 1)
  const text = await tachograph.recorder.getEventText(events[0]!.event_id)
  expect(JSON.parse(text)).toMatchObject({ agent: "chat", properties: { api } })
  for (const part of ["What?", "Answered"]) expect(text).toContain(part)
  expect(text).not.toContain(providerKey)
})
