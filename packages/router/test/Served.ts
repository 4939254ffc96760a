/** Runs a `node:http` server around a handler until the end of the test. */
import { HttpClient } from "@tachograph/testkit"
import { createServer, type RequestListener, type ServerOptions } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { setImmediate } from "node:timers/promises"
import { onTestFinished } from "vitest"

export interface Served {
  (request: Request): Promise<Response>
  readonly port: number
}

/** The server's end of each connection, by the client's port. */
const accepted = new Map<number, Socket>()

export const served = async (listener: RequestListener, options: ServerOptions = {}): Promise<Served> => {
  const server = createServer(options, listener).on("connection", (socket) => {
    const port = socket.remotePort!
    accepted.set(port, socket)
    // A later connection may have the same port.
    socket.once("close", () => {
      if (accepted.get(port) === socket) accepted.delete(port)
    })
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return Object.assign(HttpClient.at(`http://127.0.0.1:${port}`), { port })
}

/** Sends each part once the server has read the previous one. Returns everything received until the connection ends. */
export const exchange = (port: number, ...parts: ReadonlyArray<string | Uint8Array>) =>
  new Promise<string>((resolve, reject) => {
    let text = ""
    const socket = connect(port, "127.0.0.1", async () => {
      for (const part of parts) {
        socket.write(part)
        while (!socket.destroyed && accepted.get(socket.localPort!)?.bytesRead !== socket.bytesWritten)
          await setImmediate()
      }
    })
    socket.on("data", (chunk) => (text += String(chunk)))
    socket.on("end", () => resolve(text)).on("error", reject)
  })
