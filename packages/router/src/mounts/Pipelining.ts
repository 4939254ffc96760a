/** Bounds the requests that a client sends on one connection without waiting for answers: each takes memory until its turn. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** How many requests on one connection may wait for their answers. */
const maxUnanswered = 256

const unanswered = new WeakMap<Socket, number>()

/** Whether a request may be answered. If it is one too many, its connection is closed: an answer would have to wait as well. */
export const admits = ({ socket }: IncomingMessage, response: ServerResponse): boolean => {
  if (socket.destroyed) return false
  const count = (unanswered.get(socket) ?? 0) + 1
  if (count > maxUnanswered) {
    socket.destroy()
    return false
  }
  unanswered.set(socket, count)
  response.once("close", () => unanswered.set(socket, unanswered.get(socket)! - 1))
  return true
}
