/** Sends raw bytes over a connection, for requests that no HTTP client would send. */
import { connect } from "node:net"

export interface Exchange {
  /** Everything received. */
  readonly text: string
  /** The status of each response, in order. */
  readonly statuses: ReadonlyArray<number>
  /** Whether the server closed the connection before the timeout. */
  readonly closed: boolean
}

/** Sends `bytes` and reads until the server closes the connection or `timeoutMs` passes. `half` closes our side. */
export const exchange = (
  url: string,
  bytes: string | Buffer,
  { half = false, timeoutMs = 1_500 }: { readonly half?: boolean; readonly timeoutMs?: number } = {}
): Promise<Exchange> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    let text = ""
    const finish = (closed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      const statuses = Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status))
      resolve({ text, statuses, closed })
    }
    const timer = setTimeout(() => finish(false), timeoutMs)
    socket.on("data", (chunk) => (text += chunk.toString("latin1")))
    socket.on("end", () => finish(true))
    socket.on("error", () => finish(true))
    socket.on("connect", () => {
      socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes)
      if (half) socket.end()
    })
  })
