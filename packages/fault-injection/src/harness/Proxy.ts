/**
 * A TCP proxy for PostgreSQL that can close a connection at the worst moment: the database has committed, but its response
 * does not arrive.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

export interface Proxy {
  /** The database's URL with the proxy's host and port. */
  readonly urlOf: (url: string) => string
  /** Closes the next `count` connections that receive a response to COMMIT, before passing it on. */
  readonly cut: (count: number) => void
  readonly cuts: () => number
  readonly close: () => void
}

/** The CommandComplete message of a COMMIT: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const committed = Buffer.from("C\0\0\0\x0bCOMMIT\0", "latin1")

export const start = async (target: string): Promise<Proxy> => {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let pendingCuts = 0
  let cuts = 0
  const server = createServer({ noDelay: true }, (client) => {
    const database = connect({ host: hostname, port: Number(port), noDelay: true })
    const end = () => {
      client.destroy()
      database.destroy()
      sockets.delete(client)
    }
    sockets.add(client)
    // The message may be split between two chunks.
    let tail = Buffer.alloc(0)
    database.on("data", (chunk) => {
      const data = Buffer.concat([tail, chunk])
      tail = data.subarray(-committed.length + 1)
      if (pendingCuts > 0 && data.includes(committed)) {
        pendingCuts--
        cuts++
        return end()
      }
      return client.write(chunk)
    })
    client.on("data", (chunk) => database.write(chunk))
    for (const socket of [client, database]) socket.on("error", end).on("close", end)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port: proxyPort } = server.address() as AddressInfo
  return {
    urlOf: (url) => {
      const proxied = new URL(url)
      proxied.hostname = "127.0.0.1"
      proxied.port = String(proxyPort)
      return proxied.href
    },
    cut: (count) => {
      pendingCuts += count
    },
    cuts: () => cuts,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}
