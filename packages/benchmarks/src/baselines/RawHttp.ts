/** Reads a body, parses it and responds. Stores nothing. */
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const event = JSON.parse(Buffer.concat(chunks).toString()) as { readonly session: string }
    const receipt = JSON.stringify({ event_id: randomUUID(), session: event.session })
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(receipt) })
    response.end(receipt)
  })
})

server.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
process.once("disconnect", () => process.exit(0))
