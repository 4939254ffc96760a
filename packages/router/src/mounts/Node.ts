/** The mount for `node:http`, Express, Connect and Fastify. */
import { InFlightSet } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { type IncomingMessage, ServerResponse } from "node:http"
import { Front } from "../front/Front.ts"
import type { Incoming } from "../front/Incoming.ts"
import type { Pieces, Reply } from "../front/Reply.ts"
import type { TimedStream } from "../front/TimedStream.ts"
import { onClientGone } from "./ClientGone.ts"
import { CloseGraceMs } from "./PendingCalls.ts"
import * as Pipelining from "./Pipelining.ts"
import * as Answer from "../response/Answer.ts"

/**
 * Calls `next` if the path is not of the contract; without `next`, answers 404. Returns whether it answers the request.
 */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse, next?: () => void) => boolean

export const write = (response: ServerResponse, reply: Reply): void => {
  const { body, live, pieces, status } = reply
  // The host may have answered already, for example because of a timeout of its own; or the client has disconnected.
  if (response.headersSent || response.destroyed) {
    live?.cancel()
    return pieces?.close()
  }
  guarded(response, () => {
    const headers = withVary(response, reply.headers)
    if (live !== undefined) {
      markLive(response)
      response.once("close", live.cancel)
      live.onTimeout = () => void (response.socket === null ? live.cancel() : response.destroy())
      response.writeHead(status, headers).flushHeaders()
      return void writeLive(response, live)
    }
    if (pieces === undefined) return void response.writeHead(status, headers).end(Answer.whole(body))
    holdUntilWritten(response, pieces)
    response.writeHead(status, headers)
    writePieces(response, pieces)
  })
}

/** Keeps what the host has said that its answers vary by. */
const withVary = (response: ServerResponse, headers: Reply["headers"]): Reply["headers"] => {
  const { vary } = headers
  const ofHost = vary === undefined ? undefined : response.getHeader("vary")
  return ofHost === undefined ? headers : { ...headers, vary: [ofHost, vary].flat().join(", ") }
}

const lives = new WeakSet<ServerResponse>()

/** To be called when a response, or what it depends on, takes the body as it comes, with limits on time of its own. */
export const markLive = (response: ServerResponse): void => void lives.add(response)

/** Whether it answers a request while its body may still come, for which a server's timeout of requests is too short. */
export const isLive = (response: ServerResponse): boolean => lives.has(response)

const holdUntilWritten = (response: ServerResponse, pieces: Pieces): void => {
  const close = () => pieces.close()
  // `finish`: the system has taken all of it. On a connection that breaks, `close` comes alone, when nothing is written any more.
  response.once("finish", close).once("close", close)
  // Behind an earlier response on the same connection, it is closed when its next piece is due: that one may be the host's.
  pieces.onTimeout = () => void (response.socket === null ? close() : response.destroy())
}

/** A hook of the host may fail. Other answers of this turn must still be written. */
const guarded = (response: ServerResponse, work: () => void): void => {
  try {
    work()
  } catch {
    response.destroy()
  }
}

/** Whether a piece may be held by a hook of the host after the body is freed. */
const isHeld = ({ end, write }: ServerResponse): boolean =>
  write !== ServerResponse.prototype.write || end !== ServerResponse.prototype.end

/**
 * Writes each piece when the client has taken the one before, in a turn of the event loop of its own. Behind another response the
 * first one waits for its turn: Node would hold it, which nothing bounds.
 */
const writePieces = (response: ServerResponse, pieces: Pieces): void =>
  guarded(response, () => {
    if (response.destroyed) return
    // The host has ended it, for example because of a timeout of its own. What it lacks never comes, so that its client must not wait.
    if (response.writableEnded) {
      pieces.close()
      return void response.destroy()
    }
    if (response.socket === null) return void response.once("socket", () => writePieces(response, pieces))
    const piece = pieces.next()
    const bytes = piece && isHeld(response) ? Uint8Array.from(piece) : piece
    if (bytes === undefined || pieces.isEmpty) return void response.end(bytes)
    const next = () => void setImmediate(writePieces, response, pieces)
    if (response.write(bytes)) next()
    else response.once("drain", next)
  })

/** Writes each piece when it is made and the client has taken the one before. A body that is cut closes its connection. */
const writeLive = async (response: ServerResponse, live: TimedStream): Promise<void> => {
  try {
    for (let piece = await live.next(); piece !== undefined; piece = await live.next()) {
      // By the host. Behind another response, nothing has said so.
      if (response.writableEnded) return live.cancel()
      if (!response.write(piece)) await drained(response)
    }
    response.end()
  } catch {
    response.destroy()
  }
}

/** Resolves when the client has taken what was written, or is gone. */
const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done)
      resolve()
    }
    response.once("drain", done).once("close", done)
    if (response.destroyed) done()
  })

/** Under overload, a turn reads thousands of requests, whose answers would wait for its end. */
const maxCoalesced = 64

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
    const length = pending.push(write)
    if (length === 1) setImmediate(flush)
    else if (length === maxCoalesced) flush()
  }
}

/**
 * Whether `node:http` has sent the response 100 itself, because no listener for `checkContinue` has deferred it. It says so in a field of its
 * own, for which there is no other name: without the field, clients would get 100 twice, which they must bear (RFC 9110, section 15.2).
 */
export const hasSentContinue = (response: ServerResponse & { readonly _sent100?: boolean }): boolean =>
  response._sent100 === true

const continueOnce = (message: IncomingMessage, response: ServerResponse) =>
  message.headers.expect === undefined ? undefined : () => void (hasSentContinue(response) || response.writeContinue())

/** What a client that has left asked to be read is of no use. What it asked to be written is: it may never ask again. */
const isRead = (method: string): boolean => method === "GET" || method === "HEAD"

/** Works until the scope is closed, which waits for at most `CloseGraceMs` for events that are being committed. */
export const make: Effect.Effect<NodeHandler, never, Front | Scope.Scope> = Effect.gen(function* () {
  const front = yield* Front
  const fibers = new InFlightSet<Fiber.Fiber<unknown>>()
  const graceMs = yield* CloseGraceMs
  yield* Effect.addFinalizer(() => {
    for (const fiber of fibers.values()) fiber.interruptUnsafe()
    // A disk may hang.
    return Effect.timeoutOption(Effect.interruptible(Fiber.awaitAll(fibers.values())), graceMs)
  })
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const writeLater = coalesceWrites()
  const admits = Pipelining.make()

  return (message, response, next) => {
    const respond = (reply: Reply) => writeLater(() => write(response, reply))
    const incoming: Incoming = {
      method: message.method!,
      url: message.url!,
      // Node keeps some headers, such as `set-cookie`, as arrays. None of them is read.
      headers: message.headers as Incoming["headers"],
      source: message,
      body: message,
      onReadBody: continueOnce(message, response),
      isBehind: () => response.socket === null || response.socket.writableLength > 0
    }
    const handled = next === undefined ? front.handle(incoming) : front.handleOwn(incoming)
    if (handled === undefined) {
      next!()
      return false
    }
    if (!admits(message, response)) return true
    if (!Effect.isEffect(handled)) {
      respond(handled)
      return true
    }
    // The client may have disconnected while the host worked on its request.
    if (response.closed) return true
    const fiber = run(handled)
    const remove = fibers.add(fiber)
    const stay = isRead(incoming.method) ? onClientGone(message, response, () => fiber.interruptUnsafe()) : undefined
    fiber.addObserver((exit) => {
      remove()
      stay?.()
      // It never fails: it was interrupted, by the client or by the end of the server.
      if (exit._tag === "Success") respond(exit.value)
      else response.destroy()
    })
    return true
  }
})
