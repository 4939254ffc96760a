/** A stub of the provider's Responses API, to try the example without an API key: every answer is "42". */
import { createServer } from "node:http"

const answer = {
  id: "resp_1",
  object: "response",
  model: "gpt-5-mini",
  status: "completed",
  output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "42" }] }]
}

createServer((request, response) => {
  request.resume()
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer))
}).listen(Number(process.env.PORT ?? 4010), "127.0.0.1")
