/** A server with open streams through its proxy, which is told to end. */
import { once } from "node:events"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, expect } from "vitest"
import { run, serve } from "./TachographProcess.ts"

const closing: Array<() => void> = []

afterAll(() => {
  for (const close of closing) close()
})

/** A provider whose streams never end. */
const streaming = async (): Promise<string> => {
  const provider = createServer((message, response) => {
    message.resume()
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "so far" } }] })}\n\n`)
  })
  await once(provider.listen(0, "127.0.0.1"), "listening")
  closing.push(() => {
    provider.close()
    provider.closeAllConnections()
  })
  return `local=http://127.0.0.1:${(provider.address() as AddressInfo).port}`
}

/** Resolves when its answer has begun. */
const call = async (url: string, session: string) => {
  const headers = { "x-tachograph-session": session }
  const sent = request(`${url}/proxy/local/chat/completions`, { method: "POST", headers }).end('{"messages":[]}')
  const [answer] = await once(sent, "response")
  answer.on("error", () => {})
  await once(answer, "data")
}

/** Expects that each stream is recorded as far as it came, before the storage is closed. */
export const expectRecorded = async (storage: string, options: ReadonlyArray<string>): Promise<void> => {
  const env = { TACHOGRAPH_STORAGE: storage }
  const args = ["--port", "0", "--proxy", "--proxy-open", "--upstream", await streaming(), ...options]
  const server = await serve(args, { env })
  const sessions = ["a", "b", "c", "d"]
  await Promise.all(sessions.map((session) => call(server.url, session)))
  const { code, stderr } = await server.stop()
  expect([code, stderr.split("\n").filter((line) => /storage|not recorded/.test(line))]).toEqual([0, []])
  const exported = await run(["export"], { env })
  const events = exported.stdout.split("\n").filter((line) => line.includes('"inputs"'))
  expect(events).toHaveLength(sessions.length)
  for (const event of events) {
    expect(event).toContain("so far")
    expect(event).toContain('{"type":"exit","message":"The process ended during the call."}')
  }
}
