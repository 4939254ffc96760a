/** No header is left out because there are many. Node leaves out those after the first 1,000 unless it is told otherwise. */
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { proxyTo, send, withKey } from "./Client.ts"

const path = "/proxy/local/v1/chat/completions"
const many = Array.from({ length: 2_500 }, (_, at) => [`x-${at}`, `${at}`] as const)

/** Answers each connection with these bytes. */
const answering = async (bytes: string): Promise<string> => {
  const server = createServer((socket) => {
    socket.on("error", () => {}).once("data", () => socket.end(bytes))
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it("passes all headers and trailers of an answer on", async () => {
  const lines = many.map(([name, value]) => `${name}: ${value}\r\n`).join("")
  const body = "2\r\n{}\r\n0\r\n"
  const url = await answering(`HTTP/1.1 200 OK\r\n${lines}Transfer-Encoding: chunked\r\n\r\n${body}${lines}\r\n`)
  const { port, tachograph } = await proxyTo(url)
  const { answer } = await send(port, path, { headers: withKey, body: "{}" })
  expect(answer.rawHeaders.filter((name) => name.startsWith("x-"))).toEqual(many.map(([name]) => name))
  expect(answer.rawTrailers.filter((name) => name.startsWith("x-"))).toEqual(many.map(([name]) => name))
  const init = { method: "POST", headers: withKey, body: "{}" }
  const response = await tachograph.fetch(new Request(`http://host${path}`, init))
  expect([...response.headers.keys()].filter((name) => name.startsWith("x-"))).toHaveLength(many.length)
})
