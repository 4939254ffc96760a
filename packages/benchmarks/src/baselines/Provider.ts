/** `Provider.ts [MS]`: a short answer to `/chat/completions` after this time, and a stream of 200 chunks to `/messages`. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const delayMs = Number(process.argv[2] ?? 0)

const message = { role: "assistant", content: "Words of an answer. ".repeat(20) }
const usage = { prompt_tokens: 100, completion_tokens: 80, total_tokens: 180 }
const choices = [{ index: 0, message, finish_reason: "stop" }]
const answer = JSON.stringify({ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m", choices, usage })

const event = (data: { readonly type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const start = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage: { input_tokens: 100 } }
const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Words of an answer. " } }
const stream = [
  event({ type: "message_start", message: start } as { type: string }),
  event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } } as { type: string }),
  ...Array.from({ length: 196 }, () => event(delta)),
  event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 196 } } as {
    type: string
  }),
  event({ type: "message_stop" })
]

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    if (request.url === "/chat/completions") {
      const send = () => response.writeHead(200, { "content-type": "application/json" }).end(answer)
      return void (delayMs === 0 ? send() : setTimeout(send, delayMs))
    }
    response.writeHead(200, { "content-type": "text/event-stream" })
    let sent = 0
    const send = () => {
      if (response.destroyed) return
      response.write(stream[sent++])
      if (sent < stream.length) setImmediate(send)
      else response.end()
    }
    send()
  })
})

server.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
process.once("disconnect", () => process.exit(0))
