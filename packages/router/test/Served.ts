/** A `node:http` server around a handler, for the length of a test. */
import { HttpClient } from "@tachograph/testkit"
import { createServer, request, type RequestListener } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { onTestFinished } from "vitest"

export interface Served {
  (request: Request): Promise<Response>
  readonly port: number
}

export const served = async (listener: RequestListener): Promise<Served> => {
  const server = createServer(listener)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return Object.assign(HttpClient.at(`http://127.0.0.1:${port}`), { port })
}

/** Says how many bytes it will send to a path, and sends none of them. */
export const announced = ({ port }: Served, path: string, headers: Record<string, string>, bytes: number) =>
  new Promise<Response>((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, method: "POST", headers: { ...headers, "content-length": bytes } }
    const sent = request(options, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () => {
        sent.destroy()
        const { headers, statusCode: status = 0 } = response
        resolve(new Response(Buffer.concat(chunks), { status, headers: headers as Record<string, string> }))
      })
    })
    sent.on("error", reject).flushHeaders()
  })

/** Sends bytes as they are and resolves with all that comes back until the connection ends. */
export const exchange = (port: number, ...parts: ReadonlyArray<string>) =>
  new Promise<string>((resolve, reject) => {
    let text = ""
    const socket = connect(port, "127.0.0.1", async () => {
      for (const part of parts) {
        socket.write(part)
        await new Promise((done) => setTimeout(done, 20))
      }
    })
    socket.on("data", (chunk) => (text += String(chunk)))
    socket.on("end", () => resolve(text)).on("error", reject)
  })
