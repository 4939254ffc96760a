/**
 * Open-loop load: sends requests at a fixed rate, independent of the responses. Autocannon is closed-loop: its connections
 * wait for their responses, so a slow server would receive fewer requests.
 */
import { once } from "node:events"
import { connect, type Socket } from "node:net"

export interface OpenLoop {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent in order, repeatedly. */
  readonly bodies: ReadonlyArray<Buffer>
  /** Requests per second. */
  readonly rate: number
  /** Warm-up (s), before responses are counted. */
  readonly leadIn: number
  readonly seconds: number
}

/** Responses after the warm-up. */
export interface Responses {
  /** Counts by status. */
  readonly statuses: ReadonlyMap<number, number>
  /** Latency of each 200 (ms). */
  readonly latencies: ReadonlyArray<number>
  /** Latency of each 503 (ms). */
  readonly refusedLatencies: ReadonlyArray<number>
  /** Broken connections, and requests without a free connection. */
  readonly failed: number
  readonly elapsed: number
}

/** Connections with one request at a time: more than the server queues, so that it has to refuse some. */
export const maxConnections = 6_000

/** Connections opened at a time. More would overflow the accept backlog and be retried seconds later. */
const connectBatch = 100

/** Interval at which due requests are sent (ms). */
const tickMs = 5

export const run = async ({ bodies, headers, leadIn, rate, seconds, url }: OpenLoop): Promise<Responses> => {
  const { hostname, pathname, port } = new URL(url)
  const lines = [
    `POST ${pathname} HTTP/1.1`,
    `host: ${hostname}:${port}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  ]
  const idle: Array<Socket> = []
  const all = new Set<Socket>()
  const sentAt = new Map<Socket, number>()
  const statuses = new Map<number, number>()
  const latencies: Array<number> = []
  const refusedLatencies: Array<number> = []
  let started = Infinity
  const isCounting = () => performance.now() - started >= 1_000 * leadIn
  let sent = 0
  let failed = 0

  const open = (): Socket => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    let text = ""
    all.add(socket)
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1")
      const end = text.indexOf("\r\n\r\n")
      const [, length = 0] = /\r\ncontent-length: (\d+)/i.exec(text) ?? []
      if (end === -1 || text.length < end + 4 + Number(length)) return
      const status = Number(text.slice(9, 12))
      const latency = performance.now() - sentAt.get(socket)!
      text = ""
      sentAt.delete(socket)
      idle.push(socket)
      if (!isCounting()) return
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 200) latencies.push(latency)
      else if (status === 503) refusedLatencies.push(latency)
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      all.delete(socket)
      // Idle connections are closed by the server after a while, which is not a failure.
      if (sentAt.delete(socket) && isCounting()) failed++
    })
    return socket
  }

  const send = () => {
    let socket = idle.pop()
    while (socket?.destroyed) socket = idle.pop()
    if (socket === undefined && all.size < maxConnections) socket = open()
    const body = bodies[sent++ % bodies.length]!
    if (socket === undefined) {
      if (isCounting()) failed++
      return
    }
    sentAt.set(socket, performance.now())
    socket.write(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\ncontent-length: ${body.length}\r\n\r\n`), body]))
  }

  while (all.size < maxConnections) {
    const opened = Array.from({ length: connectBatch }, open)
    await Promise.all(opened.map((socket) => once(socket, "connect")))
    idle.push(...opened)
  }
  started = performance.now()
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = (performance.now() - started) / 1_000
      if (elapsed >= leadIn + seconds) {
        clearInterval(timer)
        return resolve()
      }
      while (sent < elapsed * rate) send()
    }, tickMs)
  })
  const elapsed = (performance.now() - started) / 1_000 - leadIn
  sentAt.clear()
  for (const socket of all) socket.destroy()
  return { statuses, latencies, refusedLatencies, failed, elapsed }
}
