/** A name for a server that can lead to another one, as an entry of the DNS does, and a network that can fall silent. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { once } from "node:events"

export interface Forwarder {
  /** A URL with this address in place of its own. */
  readonly urlOf: (url: string) => string
  /** New connections go to the server of another URL. Those that are open stay. */
  readonly leadTo: (url: string) => void
  /** From now on nothing passes, and nothing is closed either. */
  readonly swallow: () => void
  /** What was swallowed is gone. New connections pass. */
  readonly pass: () => void
  readonly close: () => void
}

export const startForwarder = async (url: string): Promise<Forwarder> => {
  let target = new URL(url)
  let isSilent = false
  const sockets = new Set<Socket>()
  const swallowed = new Set<Socket>()
  const hold = (socket: Socket) => {
    sockets.add(socket)
    socket.on("error", () => socket.destroy())
    socket.once("close", () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    hold(client)
    if (isSilent) {
      swallowed.add(client)
      return
    }
    const other = connect(Number(target.port), target.hostname)
    hold(other)
    const relay = (from: Socket, to: Socket) => {
      from.on("data", (chunk) => (isSilent ? swallowed.add(from) : to.write(chunk)))
      from.once("close", () => (isSilent ? swallowed.add(to) : to.destroy()))
    }
    relay(client, other)
    relay(other, client)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    urlOf: (text) => {
      const changed = new URL(text)
      changed.port = String(port)
      return changed.href
    },
    leadTo: (text) => {
      target = new URL(text)
    },
    swallow: () => {
      isSilent = true
    },
    pass: () => {
      isSilent = false
      for (const socket of swallowed) socket.destroy()
      swallowed.clear()
    },
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}
