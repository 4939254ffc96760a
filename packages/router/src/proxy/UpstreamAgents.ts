/**
 * Connections to upstreams that stay open, that take headers as they came, and that lose nothing which has arrived: neither where a write
 * has failed, because an upstream answers and closes before it has the whole request, nor where one resets the connection.
 */
import * as http from "node:http"
import * as https from "node:https"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"

/** The errors of a write where the other end has closed the connection. What has arrived can still be read; then the reading ends. */
const isClosed = (error: NodeJS.ErrnoException): boolean => error.code === "EPIPE" || error.code === "ECONNRESET"

/** Sockets that nothing can be written to any more. */
const unwritable = new WeakSet<Duplex>()

type Callback = (error?: Error | null) => void

/** Discards what cannot be written, instead of destroying the socket, and with it an answer that has arrived. */
const readToItsEnd = (socket: Socket): Socket => {
  const { _write, _writev } = socket
  const discarding =
    (callback: Callback): Callback =>
    (error) => {
      if (!error || !isClosed(error)) return callback(error)
      unwritable.add(socket)
      callback()
    }
  socket._write = (chunk, encoding, callback) =>
    unwritable.has(socket) ? callback() : _write.call(socket, chunk, encoding, discarding(callback))
  socket._writev = (chunks, callback) =>
    unwritable.has(socket) ? callback() : _writev!.call(socket, chunks, discarding(callback))
  return socket
}

/**
 * Reads nothing while the socket is paused. Node would read on, up to a limit, and lose what it has read so if the other end then resets
 * the connection. The system does not lose what it still has.
 */
const resting = (socket: Socket): Socket => {
  const { _read, push } = socket
  let hasToRead = false
  socket._read = (size) => {
    if (socket.isPaused()) hasToRead = true
    else _read.call(socket, size)
  }
  // The answer says whether to read on.
  socket.push = (chunk, encoding) => push.call(socket, chunk, encoding) && !socket.isPaused()
  return socket.on("resume", () => {
    if (!hasToRead) return
    hasToRead = false
    _read.call(socket, 0)
  })
}

const losingNothing = (agent: http.Agent): http.Agent => {
  const { createConnection, keepSocketAlive } = agent
  return Object.assign(agent, {
    createConnection: (...options: Parameters<typeof createConnection>) => {
      const socket = createConnection.apply(agent, options) as Socket
      // Node writes the headers of a request with `Expect` without saying their encoding, which is UTF-8 by default.
      socket.setDefaultEncoding("latin1")
      return resting(readToItsEnd(socket))
    },
    keepSocketAlive: (socket: Duplex) => !unwritable.has(socket) && keepSocketAlive.call(agent, socket)
  })
}

export const make = (options: http.AgentOptions): Readonly<Record<"http:" | "https:", http.Agent>> => ({
  "http:": losingNothing(new http.Agent(options)),
  "https:": losingNothing(new https.Agent(options))
})
