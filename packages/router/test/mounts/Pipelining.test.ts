import { createServer, IncomingMessage, ServerResponse } from "node:http"
import { type AddressInfo, Socket } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import * as Pipelining from "../../src/mounts/Pipelining.ts"

it("lets a bounded number of requests wait behind others, on all connections together", () => {
  const admits = Pipelining.make()
  const responses: Array<ServerResponse> = []
  const send = (socket: Socket) => {
    const message = new IncomingMessage(socket)
    const response = new ServerResponse(message)
    const isAdmitted = admits(message, response)
    if (isAdmitted) responses.push(response)
    return isAdmitted
  }
  const answerAll = () => responses.splice(0).forEach((response) => response.emit("close"))
  const fill = () => {
    let socket = new Socket()
    for (let behind = 0; behind < Pipelining.maxBehind; socket = new Socket()) {
      expect(send(socket)).toBe(true)
      for (let each = 1; each < Pipelining.maxUnanswered && behind < Pipelining.maxBehind; each++, behind++) {
        expect(send(socket)).toBe(true)
      }
    }
  }
  fill()
  const another = new Socket()
  // The first request on a connection is behind none.
  expect([send(another), another.destroyed]).toEqual([true, false])
  expect([send(another), another.destroyed]).toEqual([false, true])
  answerAll()
  fill()
  answerAll()
})

it("counts no request whose answer the host has ended already", async () => {
  const admits = Pipelining.make()
  const seen: Array<unknown> = []
  const server = createServer((message, response) => {
    response.once("close", () => seen.push([admits(message, response), message.socket.destroyed]))
    response.end("the host's own")
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const { port } = server.address() as AddressInfo
  for (let each = 0; each < 3; each++) await (await fetch(`http://127.0.0.1:${port}`)).text()
  await expect.poll(() => seen.length).toBe(3)
  expect(seen).toEqual(Array.from({ length: 3 }, () => [false, false]))
})
