/** `BareProxy.ts URL`: passes every request on to the URL, and records nothing. */
import { Agent, createServer, request } from "node:http"
import type { AddressInfo } from "node:net"

const { hostname, port } = new URL(process.argv[2]!)
const agent = new Agent({ keepAlive: true })

const server = createServer((incoming, response) => {
  const { headers, method, url } = incoming
  const sent = request({ agent, hostname, port, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode!, answer.headers)
    answer.pipe(response)
  })
  sent.on("error", () => response.destroy())
  incoming.pipe(sent)
})

server.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
process.once("disconnect", () => process.exit(0))
