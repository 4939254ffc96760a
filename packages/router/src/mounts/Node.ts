/** The mount for `node:http`, Express, Connect and Fastify. */
import { Effect, Fiber, type Scope } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Front, type Incoming } from "../front/Front.ts"
import type { Answer } from "../response/Answer.ts"

/**
 * Calls `next` if the path is not of the contract; without `next`, answers 404. Returns whether it answers the request.
 */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse, next?: () => void) => boolean

export const write = (response: ServerResponse, { body, headers, status }: Answer): void => {
  // The host may have answered already, for example because of a timeout of its own.
  if (response.headersSent) return
  try {
    response.writeHead(status, headers).end(body)
  } catch {
    // A hook of the host failed. Other answers of this turn must still be written.
    response.destroy()
  }
}

/**
 * Writes the answers of one turn of the event loop together. Writing one wakes its client, which on a busy machine takes as
 * long as handling the request: a client that waits for several is woken once.
 */
const coalesceWrites = (): ((write: () => void) => void) => {
  let pending: Array<() => void> = []
  const flush = () => {
    const writes = pending
    pending = []
    for (const write of writes) write()
  }
  return (write) => {
    if (pending.push(write) === 1) setImmediate(flush)
  }
}

/** `_sent100` is set by `node:http` where no listener for `checkContinue` has deferred the response 100. */
const continueOnce = (message: IncomingMessage, response: ServerResponse & { readonly _sent100?: boolean }) =>
  message.headers.expect === undefined ? undefined : () => void (response._sent100 || response.writeContinue())

/** Works until the scope is closed, which waits for events that are being committed. */
export const make: Effect.Effect<NodeHandler, never, Front | Scope.Scope> = Effect.gen(function* () {
  const front = yield* Front
  const fibers = new Set<Fiber.Fiber<unknown>>()
  yield* Effect.addFinalizer(() => Fiber.interruptAll(fibers))
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const writeLater = coalesceWrites()

  return (message, response, next) => {
    const respond = (answer: Answer) => writeLater(() => write(response, answer))
    const incoming: Incoming = {
      method: message.method!,
      url: message.url!,
      // Node keeps some headers, such as `set-cookie`, as arrays. None of them is read.
      headers: message.headers as Incoming["headers"],
      source: message,
      body: message,
      onReadBody: continueOnce(message, response)
    }
    const handled = next === undefined ? front.handle(incoming) : front.handleOwn(incoming)
    if (handled === undefined) {
      next!()
      return false
    }
    if (!Effect.isEffect(handled)) {
      respond(handled)
      return true
    }
    // The client may have disconnected while the host worked on its request.
    if (response.closed) return true
    const fiber = run(handled)
    fibers.add(fiber)
    fiber.addObserver((exit) => {
      fibers.delete(fiber)
      // It never fails: it was interrupted, by the client or by the end of the server.
      if (exit._tag === "Success") respond(exit.value)
      else response.destroy()
    })
    return true
  }
})
