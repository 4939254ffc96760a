/** Sends raw bytes over a connection, for requests that no HTTP client would send. */
import { once } from "node:events"
import { connect } from "node:net"

export interface Exchange {
  /** Everything received. */
  readonly text: string
  /** The status of each response, in order. */
  readonly statuses: ReadonlyArray<number>
  /** Whether the server closed the connection before the timeout. */
  readonly closed: boolean
}

export interface Connection {
  /** Resolves when the connection is established. */
  readonly connected: Promise<unknown>
  readonly write: (bytes: string) => void
  /** Resolves when everything received so far matches. Rejects if the connection ends before. */
  readonly received: (pattern: RegExp) => Promise<void>
  /** Resolves when the server closes the connection, `close` is called, or `timeoutMs` passes. */
  readonly finished: Promise<Exchange>
  readonly close: () => void
}

export interface Options {
  /** Closes our side after the bytes. */
  readonly half?: boolean
  /** A generous limit: it ends a connection that hangs. Default: 20 s. */
  readonly timeoutMs?: number
}

/** Connects and sends `bytes`. */
export const open = (url: string, bytes: string, { half = false, timeoutMs = 20_000 }: Options = {}): Connection => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  let text = ""
  let closed = false
  const finished = new Promise<Exchange>((resolve) => {
    const timer = setTimeout(() => socket.destroy(), timeoutMs)
    const end = () => {
      closed = true
      socket.destroy()
    }
    socket.on("data", (chunk) => (text += chunk.toString("latin1")))
    socket.on("end", end)
    socket.on("error", end)
    socket.on("close", () => {
      clearTimeout(timer)
      const statuses = Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status))
      resolve({ text, statuses, closed })
    })
  })
  const write = (more: string) => void socket.write(Buffer.from(more, "latin1"))
  write(bytes)
  if (half) socket.end()
  return {
    connected: once(socket, "connect"),
    write,
    received: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (pattern.test(text)) resolve()
        }
        socket.on("data", check)
        socket.once("close", () => reject(new Error(`The connection ended, and received ${JSON.stringify(text)}`)))
        check()
      }),
    finished,
    close: () => void socket.destroy()
  }
}

/** Sends `bytes` and reads until the server closes the connection or the timeout passes. */
export const exchange = (url: string, bytes: string, options?: Options): Promise<Exchange> =>
  open(url, bytes, options).finished

/** A client that sends the first byte of a body and stalls. Resolves when the server reads the body. */
export const stall = async (
  url: string,
  key: string,
  { method = "PUT", path = "/api/v1/agents", bytes = 100 } = {}
) => {
  const head =
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${bytes}\r\nExpect: 100-continue\r\n\r\n`
  const connection = open(url, head)
  await connection.received(/^HTTP\/1\.1 100 Continue\r\n/)
  connection.write("{")
  return connection
}

/** Waits until the server accepts no connections, which is how a shutdown begins. */
export const untilRefused = async (url: string) => {
  for (;;) {
    const connection = open(url, "")
    const isRefused = await connection.connected.then(
      () => false,
      () => true
    )
    connection.close()
    if (isRefused) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
