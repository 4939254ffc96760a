/** Runs the commands of the README: the server in one process, the program in another. */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"

const folder = fileURLToPath(new URL("..", import.meta.url))
const key = "a key of the example's own"
// The command uses the Node that runs this test.
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`, TACHOGRAPH_API_KEY: key }
let server: ChildProcess
let url: string

beforeAll(async () => {
  server = spawn(`${folder}/node_modules/.bin/tachograph`, ["serve", "--port", "0", "--storage", "memory:"], {
    env,
    stdio: ["ignore", "pipe", "inherit"]
  })
  url = await new Promise((resolve, reject) => {
    let output = ""
    server.stdout!.on("data", (chunk) => {
      const match = /^Docs +(http:\S+)\/docs$/m.exec((output += chunk))
      if (match !== null) resolve(match[1]!)
    })
    server.once("exit", (code) => reject(new Error(`The server ended with ${code}`)))
  })
})

afterAll(() => void server.kill("SIGKILL"))

it("records a call and reads it back", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [`${folder}/src/record.ts`], {
    env: { ...env, TACHOGRAPH_URL: url }
  })
  expect(JSON.parse(stdout)).toMatchObject({
    agent: "support-agent",
    agent_version: "2026-01",
    person: "customer-42",
    session: "session-1",
    properties: { api: "provider1-chat-completions", inputs: { messages: [{ content: "Hello" }] } }
  })
})

it("exits with 0 on SIGTERM", async () => {
  const ended = once(server, "exit")
  server.kill()
  expect(await ended).toEqual([0, null])
})
