/**
 * Requests at a rate of their own, whatever becomes of those before them. Autocannon's connections wait each for its answer,
 * so that a server that is too slow would be asked for less.
 */
import { once } from "node:events"
import { connect, type Socket } from "node:net"

export interface OpenLoop {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent in turn. */
  readonly bodies: ReadonlyArray<Buffer>
  /** Requests a second. */
  readonly rate: number
  /** Seconds before anything counts. */
  readonly leadIn: number
  readonly seconds: number
}

/** What was answered after the lead-in. */
export interface Answers {
  /** How many there were, by status. */
  readonly statuses: ReadonlyMap<number, number>
  /** Milliseconds of each 200. */
  readonly latencies: ReadonlyArray<number>
  /** Connections that broke, and requests for which there was none left. */
  readonly failed: number
  readonly elapsed: number
}

/** Connections, each with one request at a time: more than a server lets wait, so that it has to refuse. */
const maxConnections = 6_000

/** Connections that are opened together, before anything is sent. A crowd at the door would wait for the system, for seconds. */
const openedAtOnce = 100

/** Milliseconds between which requests are due together. */
const tick = 5

export const run = async ({ bodies, headers, leadIn, rate, seconds, url }: OpenLoop): Promise<Answers> => {
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
  let started = Infinity
  const counts = () => performance.now() - started >= 1_000 * leadIn
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
      if (!counts()) return
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status === 200) latencies.push(latency)
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      all.delete(socket)
      // Whoever has nothing under way is closed by the server after a while.
      if (sentAt.delete(socket) && counts()) failed++
    })
    return socket
  }

  const send = () => {
    let socket = idle.pop()
    while (socket?.destroyed) socket = idle.pop()
    if (socket === undefined && all.size < maxConnections) socket = open()
    const body = bodies[sent++ % bodies.length]!
    if (socket === undefined) {
      if (counts()) failed++
      return
    }
    sentAt.set(socket, performance.now())
    socket.write(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\ncontent-length: ${body.length}\r\n\r\n`), body]))
  }

  while (all.size < maxConnections) {
    const opened = Array.from({ length: openedAtOnce }, open)
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
    }, tick)
  })
  const elapsed = (performance.now() - started) / 1_000 - leadIn
  sentAt.clear()
  for (const socket of all) socket.destroy()
  return { statuses, latencies, failed, elapsed }
}
