/** A TCP proxy that closes a connection when certain bytes pass: a network or a peer that fails at the worst moment. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

export interface Options {
  readonly host: string
  readonly port: number
  /** Whose bytes are looked at. */
  readonly from: "client" | "server"
  /** Bytes that are not passed on once a connection is to be closed. Earlier bytes of the same chunk are dropped, too. */
  readonly at: Buffer
}

export interface CuttingProxy {
  /** The port on 127.0.0.1. */
  readonly port: number
  /** Closes the next `count` connections in which the bytes pass. Zero closes none. */
  readonly cut: (count: number) => void
  /** How many were closed. */
  readonly cuts: () => number
  /** Closes all connections. Others can be made. */
  readonly drop: () => void
  readonly close: () => void
}

export const start = async ({ at, from, host, port }: Options): Promise<CuttingProxy> => {
  const sockets = new Set<Socket>()
  let pendingCuts = 0
  let cuts = 0
  const server = createServer({ noDelay: true }, (client) => {
    const target = connect({ host, port, noDelay: true })
    const end = () => {
      for (const socket of [client, target]) sockets.delete(socket.destroy())
    }
    const [watched, other] = from === "client" ? [client, target] : [target, client]
    // The bytes may be split between two chunks.
    let tail = Buffer.alloc(0)
    watched.on("data", (chunk) => {
      const data = Buffer.concat([tail, chunk])
      tail = data.subarray(Math.max(0, data.length - at.length + 1))
      if (pendingCuts > 0 && data.includes(at)) {
        pendingCuts--
        cuts++
        return end()
      }
      return other.write(chunk)
    })
    other.on("data", (chunk) => watched.write(chunk))
    for (const socket of [client, target]) sockets.add(socket.on("error", end).on("close", end))
  })
  const drop = () => {
    for (const socket of sockets) socket.destroy()
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    port: (server.address() as AddressInfo).port,
    cut: (count) => {
      pendingCuts = count
    },
    cuts: () => cuts,
    drop,
    close: () => {
      server.close()
      drop()
    }
  }
}
