/** Runs the commands of the README, with a provider on this machine. */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { readFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it, vi } from "vitest"

const folder = fileURLToPath(new URL("..", import.meta.url))
const key = "a key of the example's own"
const providerKey = "sk-planted-key-of-the-provider"
const run = promisify(execFile)

const answer = { id: "c1", object: "chat.completion", choices: [{ index: 0, message: { content: "Answered" } }] }
const chunk = (content: string) => ({
  id: "c1",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta: { content } }]
})

const provider = createServer(async (request, response) => {
  let body = ""
  for await (const part of request) body += String(part)
  if (request.headers.authorization !== `Bearer ${providerKey}`) return void response.writeHead(401).end()
  if (!(JSON.parse(body) as { stream?: boolean }).stream) {
    return void response.setHeader("content-type", "application/json").end(JSON.stringify(answer))
  }
  response.setHeader("content-type", "text/event-stream")
  for (const content of ["Streamed ", "words"]) response.write(`data: ${JSON.stringify(chunk(content))}\n\n`)
  response.end("data: [DONE]\n\n")
})

/** The arguments of the command of npm that begins like this. */
const commandOf = (beginning: string): ReadonlyArray<string> => {
  const line = readFileSync(`${folder}/README.md`, "utf8")
    .split("\n")
    .find((line) => line.startsWith(beginning))
  const words = /^npm (.*?)\s*(?:&\s*)?(?:#.*)?$/.exec(line!)![1]!
  return ["--silent", ...words.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ""))]
}

// The commands use the Node that runs this test.
const path = `${dirname(process.execPath)}:${process.env["PATH"]}`
let server: ChildProcess
let url: string
let env: NodeJS.ProcessEnv
let output = ""

beforeAll(async () => {
  await once(provider.listen(0, "127.0.0.1"), "listening")
  const upstream = `openai=http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
  const settings = { TACHOGRAPH_PORT: "0", TACHOGRAPH_STORAGE: "memory:", TACHOGRAPH_UPSTREAM: upstream }
  server = spawn("npm", commandOf("npm start"), {
    cwd: folder,
    env: { ...process.env, ...settings, PATH: path, TACHOGRAPH_API_KEY: key },
    stdio: ["ignore", "pipe", "pipe"]
  })
  server.stderr!.on("data", (text) => (output += text))
  url = await new Promise((resolve, reject) => {
    server.stdout!.on("data", (text) => {
      const match = /^Docs +(http:\S+)\/docs$/m.exec((output += text))
      if (match !== null) resolve(match[1]!)
    })
    server.once("exit", (code) => reject(new Error(`The server ended with ${code}`)))
  })
  env = { PATH: path, OPENAI_API_KEY: providerKey, OPENAI_BASE_URL: `${url}/proxy/openai` }
})

afterAll(async () => {
  // npm passes it on.
  server.kill("SIGTERM")
  if (server.exitCode === null) await once(server, "exit")
  provider.close()
})

const get = async (target: string) =>
  (await fetch(`${url}/api/v1/events${target}`, { headers: { authorization: `Bearer ${key}` } })).text()

it("records what an SDK and curl send through it, and no key", async () => {
  const chat = await run("npm", commandOf("npm run chat"), { cwd: folder, env })
  expect(chat.stdout).toBe("Streamed words\n")
  const curl = await run("npm", commandOf("npm run curl"), { cwd: folder, env })
  expect(curl.stdout).toBe(JSON.stringify(answer))

  const events = await vi.waitFor(
    async () => {
      const page = JSON.parse(await get("?order=asc")) as { events: ReadonlyArray<{ event_id: string }> }
      expect(page.events).toHaveLength(2)
      return page.events
    },
    { timeout: 60_000, interval: 20 }
  )
  const [streamed, whole] = await Promise.all(events.map(({ event_id }) => get(`/${event_id}`)))
  expect(streamed).toContain("What is a tachograph?")
  expect(whole).toContain("And who reads it?")
  expect(JSON.parse(streamed!)).toMatchObject({
    session: expect.stringMatching(/^[0-9a-f]{64}$/),
    properties: {
      inputs: { stream: true, stream_options: { include_usage: true } },
      output: { choices: [{ message: { content: "Streamed words" } }] }
    }
  })
  expect(JSON.parse(whole!)).toMatchObject({ session: "curl", agent: "shell", properties: { output: answer } })
  expect(`${streamed}${whole}${output}`).not.toContain(providerKey)
})
