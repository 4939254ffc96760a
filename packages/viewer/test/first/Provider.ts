/** A provider on this machine that answers as OpenAI and Anthropic do, and a recorder whose proxy passes calls on to it. */
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"

const said = "Hello yourself."

const usage = { input_tokens: 3, output_tokens: 4 }

/** By the end of the path. */
const answers: Readonly<Record<string, object>> = {
  responses: {
    ...{ id: "resp_1", object: "response", created_at: 1, status: "completed", model: "gpt-5" },
    output: [
      {
        ...{ id: "msg_1", type: "message", role: "assistant", status: "completed" },
        content: [{ type: "output_text", text: said, annotations: [] }]
      }
    ],
    usage: { ...usage, total_tokens: 7 }
  },
  completions: {
    ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "gpt-5" },
    choices: [{ index: 0, message: { role: "assistant", content: said }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
  },
  messages: {
    ...{ id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-5", stop_reason: "end_turn" },
    content: [{ type: "text", text: said }],
    usage
  }
}

interface Provider {
  readonly url: string
  /** Paths of requests, each with the headers that came with it. */
  readonly requests: ReadonlyArray<readonly [path: string, headers: IncomingMessage["headers"]]>
}

/** Until the test ends. */
export const startProvider = async (): Promise<Provider> => {
  const requests: Array<readonly [string, IncomingMessage["headers"]]> = []
  const server = createServer((request, response) => {
    const path = request.url!
    requests.push([path, request.headers])
    const answer = answers[path.split("/").at(-1)!]
    request.resume().on("end", () => {
      response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" })
      response.end(JSON.stringify(answer ?? {}))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}
