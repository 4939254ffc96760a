/** Bounds the requests that clients send without waiting for answers: each takes memory until its turn. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** How many requests on one connection may wait for their answers. */
export const maxUnanswered = 256

/** How many requests of a mount that arrived behind others on their connections may wait, together. */
export const maxBehind = 16_384

/** How many requests on a connection wait for their answers: of any mount. */
const unanswered = new WeakMap<Socket, number>()

/**
 * Returns whether a request of a mount may be answered. If it is one too many, its connection is closed: an answer would have to wait as
 * well.
 */
export const make = () => {
  let behind = 0
  return ({ socket }: IncomingMessage, response: ServerResponse): boolean => {
    // A response that the host has ended is not closed again, and would be counted for ever.
    if (socket.destroyed || response.closed) return false
    const before = unanswered.get(socket) ?? 0
    const arrivedBehind = before > 0
    if (before >= maxUnanswered || (arrivedBehind && behind >= maxBehind)) {
      socket.destroy()
      return false
    }
    unanswered.set(socket, before + 1)
    if (arrivedBehind) behind++
    response.once("close", () => {
      unanswered.set(socket, unanswered.get(socket)! - 1)
      if (arrivedBehind) behind--
    })
    return true
  }
}
