/** Says when the client of a request of `node:http` has left. */
import { InFlightSet } from "@tachograph/core"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** What waits for the end of each connection: one listener for all, because a client may send many requests at once. */
const waiting = new WeakMap<Socket, InFlightSet<() => void>>()

const waitingFor = (socket: Socket): InFlightSet<() => void> => {
  const known = waiting.get(socket)
  if (known !== undefined) return known
  const callbacks = new InFlightSet<() => void>()
  waiting.set(socket, callbacks)
  socket.once("close", () => {
    for (const callback of callbacks.values()) callback()
  })
  return callbacks
}

/**
 * Calls back when no answer can reach the client any more, at most once. The response alone does not say so while it waits behind
 * an earlier one on its connection. Returns a function that ends this.
 */
export const onClientGone = (
  message: IncomingMessage,
  response: ServerResponse,
  callback: () => void
): (() => void) => {
  const end = () => {
    remove()
    response.off("close", gone)
  }
  const gone = () => {
    end()
    callback()
  }
  const remove = waitingFor(message.socket).add(gone)
  response.once("close", gone)
  return end
}
