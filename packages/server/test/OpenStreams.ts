/** A server with open streams through its proxy, which is told to end. */
import { once } from "node:events"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, vi } from "vitest"
import { afterFile } from "../../../scripts/vitest/AfterFile.ts"
import { run, type Running, serve } from "./TachographProcess.ts"

/** A provider whose streams never end, beside calls that end at once: those whose model is `quick`. */
const streaming = async (): Promise<string> => {
  const provider = createServer(async (message, response) => {
    let body = ""
    for await (const part of message) body += String(part)
    if (body.includes('"quick"')) return void response.end('{"choices":[],"quick":true}')
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "so far" } }] })}\n\n`)
  })
  await once(provider.listen(0, "127.0.0.1"), "listening")
  afterFile(() => {
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

/** Resolves when the call is over, and its event still waits. */
const callQuickly = async (url: string) => {
  const init = { method: "POST", body: '{"messages":[],"model":"quick"}' }
  await (await fetch(`${url}/proxy/local/chat/completions`, init)).text()
}

const quickCalls = 20

/** Replaces the workers. Resolves when those before have ended. */
const renew = async ({ output, pid }: Running, workers: number) => {
  const count = (message: string) => output().stderr.split(`"message":"${message}"`).length - 1
  const begun = count("A worker is ready")
  process.kill(pid, "SIGHUP")
  // `expect.poll` belongs to one test, and several run at once.
  await vi.waitFor(() => expect(count("A worker is ready")).toBe(begun + workers), { timeout: 60_000, interval: 100 })
}

/**
 * Expects that each stream is recorded as far as it came, and each call that is over, before the storage is closed: when the server ends,
 * or, with `renewed`, when that number of workers is renewed.
 */
export const expectRecorded = async (
  storage: string,
  options: ReadonlyArray<string>,
  renewed: number | undefined = undefined
): Promise<void> => {
  const env = { TACHOGRAPH_STORAGE: storage }
  const args = ["--port", "0", "--proxy", "--proxy-open", "--upstream", await streaming(), ...options]
  const server = await serve(args, { env })
  const sessions = ["a", "b", "c", "d"]
  await Promise.all(sessions.map((session) => call(server.url, session)))
  await Promise.all(Array.from({ length: quickCalls }, () => callQuickly(server.url)))
  if (renewed !== undefined) await renew(server, renewed)
  const { code, stderr } = await server.stop()
  expect([code, stderr.split("\n").filter((line) => /storage|not recorded/.test(line))]).toEqual([0, []])
  const exported = await run(["export"], { env })
  const recorded = exported.stdout.split("\n").filter((line) => line.includes('"inputs"'))
  const isQuick = (event: string) => event.includes('"quick":true')
  expect(recorded.filter(isQuick)).toHaveLength(quickCalls)
  const events = recorded.filter((event) => !isQuick(event))
  expect(events).toHaveLength(sessions.length)
  for (const event of events) {
    expect(event).toContain("so far")
    expect(event).toContain('{"type":"exit","message":"The process ended during the call."}')
  }
}
