/**
 * A TCP proxy before PostgreSQL that can cut a connection at the worst moment: the database has committed, and its answer
 * does not arrive.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

export interface Proxy {
  /** The database's address with the proxy's host and port. */
  readonly urlOf: (url: string) => string
  /** Cuts so many connections, each when its next COMMIT is answered. */
  readonly cut: (count: number) => void
  readonly cuts: () => number
  readonly close: () => void
}

/** CommandComplete of a COMMIT: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const committed = Buffer.from("C\0\0\0\x0bCOMMIT\0", "latin1")

export const start = async (target: string): Promise<Proxy> => {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let due = 0
  let cuts = 0
  const server = createServer({ noDelay: true }, (client) => {
    const database = connect({ host: hostname, port: Number(port), noDelay: true })
    const end = () => {
      client.destroy()
      database.destroy()
      sockets.delete(client)
    }
    sockets.add(client)
    // What is sought may come in two pieces.
    let tail = Buffer.alloc(0)
    database.on("data", (chunk) => {
      const seen = Buffer.concat([tail, chunk])
      tail = seen.subarray(-committed.length + 1)
      if (due > 0 && seen.includes(committed)) {
        due--
        cuts++
        return end()
      }
      return client.write(chunk)
    })
    client.on("data", (chunk) => database.write(chunk))
    for (const socket of [client, database]) socket.on("error", end).on("close", end)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port: own } = server.address() as AddressInfo
  return {
    urlOf: (url) => {
      const through = new URL(url)
      through.hostname = "127.0.0.1"
      through.port = String(own)
      return through.href
    },
    cut: (count) => {
      due += count
    },
    cuts: () => cuts,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}
