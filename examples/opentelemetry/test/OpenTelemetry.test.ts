/** Runs the programs, with a provider and a Tachograph on this machine, and shows what they recorded. */
import { MemoryStorage } from "@tachograph/core"
import { createTachograph } from "@tachograph/router"
import { execFile, execFileSync } from "node:child_process"
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"

const folder = fileURLToPath(new URL("..", import.meta.url))
const run = promisify(execFile)
const key = "a key of the example's own"
const providerKey = "sk-planted-key-of-the-provider"

const hasPackages = (): boolean => {
  const modules = "opentelemetry.sdk.trace, opentelemetry.exporter.otlp.proto.http.trace_exporter"
  try {
    execFileSync("python3", ["-c", `import ${modules}`], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}
const isThere = hasPackages()
if (!isThere)
  console.info("OpenTelemetry: agent.py is left out, because python3 has no opentelemetry-sdk and exporter.")

const serve = async (listener: RequestListener) => {
  const server = createServer(listener).listen(0, "127.0.0.1")
  await once(server, "listening")
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const toolCall = { id: "call_1", type: "function", function: { name: "get_weather", arguments: `{"city":"Bern"}` } }

/** Calls the tool first, if there is one. */
const answerTo = ({ messages, tools }: { messages: ReadonlyArray<{ role: string }>; tools?: unknown }) => {
  const calls = tools !== undefined && messages.at(-1)!.role === "user"
  return {
    ...{ id: "c1", object: "chat.completion", created: 1, model: "gpt-5-mini-2025-08-07" },
    choices: [
      {
        index: 0,
        message: { role: "assistant", ...(calls ? { tool_calls: [toolCall] } : { content: "Clear, 17 degrees." }) },
        finish_reason: calls ? "tool_calls" : "stop"
      }
    ],
    usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }
  }
}

let env: NodeJS.ProcessEnv
let tachograph: Awaited<ReturnType<typeof createTachograph>>

beforeAll(async () => {
  tachograph = await createTachograph({ storage: MemoryStorage.layer, thread: false, apiKeys: [key] })
  afterAll(() => tachograph.close())
  const provider = await serve(async (request, response) => {
    let body = ""
    for await (const part of request) body += String(part)
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify(answerTo(JSON.parse(body))))
  })
  const url = await serve((request, response) => tachograph.node(request, response))
  env = {
    // The commands use the Node that runs this test.
    PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
    ...{ OPENAI_API_KEY: providerKey, OPENAI_BASE_URL: `${provider}/v1` },
    ...{ TACHOGRAPH_URL: url, TACHOGRAPH_API_KEY: key },
    OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/otlp`,
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${encodeURIComponent(key)}`
  }
})

/** What a command of the example prints. */
const npm = async (...words: ReadonlyArray<string>): Promise<string> =>
  (await run("npm", ["run", "--silent", ...words], { cwd: folder, env })).stdout

it("records the session of the AI SDK, with its tool", async () => {
  expect(await npm("agent")).toBe("Clear, 17 degrees.\n")
  const shown = await npm("show", "--", "ticket-17", "--instructions")
  const said = [
    "weather 1.2.0",
    "You tell the weather.",
    "How is the weather in Bern?",
    "→ get_weather",
    `"celsius": 17`
  ]
  for (const text of [...said, "Clear, 17 degrees."]) expect(shown).toContain(text)

  const { events } = await tachograph.api.listEvents({ session: "ticket-17" })
  expect(events).toMatchObject(
    events.map(() => ({ person: "customer-42", input_tokens: 20, output_tokens: 5, recorded: { rebuilt: true } }))
  )
  expect(events).toHaveLength(2)
  const { steps } = await tachograph.api.listSessionSteps({ session: "ticket-17" })
  expect(steps.map(({ kind }) => kind).toSorted()).toEqual(["agent", "chain", "chain", "tool"])
  expect(await tachograph.api.getEvent.text({ event_id: events[0]!.event_id })).not.toContain(providerKey)
})

it.runIf(isThere)("records what a program in Python tells itself", async () => {
  expect(await npm("agent:python")).toBe("Clear, 17 degrees.\n")
  const shown = await npm("show", "--", "ticket-18")
  for (const text of ["python", "20 in, 5 out", "How is the weather in Bern?", "Clear, 17 degrees."]) {
    expect(shown).toContain(text)
  }
})
