import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest"
import { once } from "node:events"
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setImmediate as nextTurn } from "node:timers/promises"
import * as Bursts from "../../src/proxy/Bursts.ts"

// Time passes where the test says. The connections are real.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "performance"] }))
afterEach(() => void vi.useRealTimers())

/** As many turns of the loop as bytes may take over a connection within the process, and more. */
const settle = async () => {
  for (let turn = 0; turn < 50; turn++) await nextTurn()
}

/** A server and a client with one connection. */
const connected = async () => {
  const answers: Array<ServerResponse> = []
  const server = createServer((_, response) => void answers.push(response)).listen(0, "127.0.0.1")
  await once(server, "listening")
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(async () => {
    agent.destroy()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo

  /** A call whose answer has begun. `received` grows as chunks come. */
  return async () => {
    const request = get({ agent, host: "127.0.0.1", port })
    while (answers.length === 0) await nextTurn()
    const answer = answers.pop()!
    answer.flushHeaders()
    const [message] = (await once(request, "response")) as [IncomingMessage]
    const { socket } = message
    const received: Array<string> = []
    let hasEnded = false
    Bursts.gather(message)
    message.on("data", (chunk: Buffer) => void received.push(chunk.toString()))
    message.once("end", () => void (hasEnded = true))
    const send = async (...chunks: ReadonlyArray<string>) => {
      for (const chunk of chunks) answer.write(chunk)
      await settle()
    }
    return { answer, message, received, send, socket, hasEnded: () => hasEnded }
  }
}

describe("a burst", () => {
  it("passes its beginning at once, and the rest a millisecond later", async () => {
    const { received, send } = await (await connected())()
    await send("1")
    await send("2")
    expect(received).toEqual(["1", "2"])
    await send("3")
    await send("4")
    expect(received).toEqual(["1", "2"])
    vi.advanceTimersByTime(1)
    await settle()
    expect(received).toEqual(["1", "2", "3", "4"])
  })

  it("is none where chunks come a millisecond after each other, or are large", async () => {
    const { received, send } = await (await connected())()
    for (const chunk of ["1", "2", "3"]) {
      await send(chunk)
      vi.advanceTimersByTime(1)
    }
    expect(received).toEqual(["1", "2", "3"])
    vi.advanceTimersByTime(1)
    const large = "x".repeat(4096)
    await send(large)
    await send(large)
    await send("4")
    expect(received.join("")).toBe(`123${large}${large}4`)
  })

  it("is one where chunks are just below the size of large ones", async () => {
    const { received, send } = await (await connected())()
    for (const chunk of ["1", "x".repeat(4095), "x".repeat(4095)]) await send(chunk)
    expect(received.join("")).toHaveLength(4096)
    vi.advanceTimersByTime(1)
    await settle()
    expect(received.join("")).toHaveLength(1 + 2 * 4095)
  })

  it("leaves the connection to the next call", async () => {
    const call = await connected()
    const first = await call()
    await first.send("1", "2")
    await first.send("3")
    first.answer.end("4")
    await settle()
    expect(first.hasEnded()).toBe(false)
    vi.advanceTimersByTime(1)
    await settle()
    expect(first.hasEnded()).toBe(true)
    const second = await call()
    expect(second.socket).toBe(first.socket)
    await second.send("5", "6")
    // A pause that began before the end would still hold it.
    second.answer.end()
    vi.advanceTimersByTime(1)
    await settle()
    expect([second.received, second.hasEnded()]).toEqual([["5", "6"], true])
  })

  it("does not wait for an end that came with it", async () => {
    const { answer, hasEnded, received, send } = await (await connected())()
    await send("1")
    answer.write("2")
    answer.end()
    await settle()
    expect([received, hasEnded()]).toEqual([["1", "2"], true])
  })

  it("is cut where the connection breaks meanwhile", async () => {
    const { answer, message, received, send } = await (await connected())()
    await send("1", "2")
    await send("3")
    const failed = once(message, "error")
    answer.destroy()
    await settle()
    vi.advanceTimersByTime(1)
    await failed
    expect(received).toEqual(["1", "2", "3"])
  })
})
