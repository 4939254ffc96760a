/**
 * The plain case of Create Event over `node:http`, straight from its request to its answer: what an HTTP server of Effect
 * and its middleware cost for every request is more than all that has to be done for this one.
 */
import { Recorder } from "@tachograph/core"
import { Cause, Effect, Exit, Fiber, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as StandardHeaders from "../front/StandardHeaders.ts"
import type { Authorizer } from "../front/Authorizer.ts"
import * as BasePath from "../front/BasePath.ts"
import * as CreateEvent from "../events/CreateEvent.ts"
import * as AmbiguousRequest from "../front/AmbiguousRequest.ts"
import { replayed } from "../handlers/Events.ts"
import * as NodeBody from "../front/NodeBody.ts"
import * as RequestState from "../front/RequestState.ts"
import * as RequestBody from "../front/RequestBody.ts"

/** Answers a request, or calls `next` for one that is not the plain case. */
export type NodeLane = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

/** Of those headers that come as lists, none counts here. */
const headersOf = ({ headers }: IncomingMessage) => headers as CreateEvent.Carrier["headers"]

/**
 * What can be left to it. An announced length bounds what is read; a body that somebody has begun to read is theirs; and
 * to another site's page, or to a client that waits to be told to go on, the routes know what to say.
 */
const isPlain = (base: string, message: IncomingMessage): boolean =>
  CreateEvent.isPlain(message.method, BasePath.below(base, message.url!) ?? "", headersOf(message)) &&
  message.headers["content-length"] !== undefined &&
  message.headers.origin === undefined &&
  message.headers.expect === undefined &&
  !message.readableDidRead &&
  !message.readableEnded &&
  AmbiguousRequest.classifyMessage(message) === "clear"

const write = (response: ServerResponse, id: string, { isReplay, status, text }: CreateEvent.Answer) => {
  const headers: Record<string, string | number> = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...StandardHeaders.headers(id),
    ...StandardHeaders.unkept
  }
  // The host may have lost its patience, and answered.
  if (response.headersSent) return
  if (isReplay) headers[replayed[0]] = replayed[1]
  if (status === 503) headers["retry-after"] = StandardHeaders.retryAfter()
  response.writeHead(status, headers).end(text)
}

/**
 * Answers that come in one turn of the event loop are written one behind the other: a client that sleeps between them has
 * to be woken for each, which takes as long as all the rest.
 */
const together = (() => {
  let waiting: Array<() => void> = []
  const flush = () => {
    const all = waiting
    waiting = []
    for (const write of all) write()
  }
  return (write: () => void): void => {
    if (waiting.push(write) === 1) setImmediate(flush)
  }
})()

/** Works until the scope is closed. */
export const make: Effect.Effect<NodeLane, never, Authorizer | Recorder | Scope.Scope> = Effect.gen(function* () {
  const base = yield* BasePath.BasePath
  const eventLane = yield* CreateEvent.make
  const { admission: room } = yield* Recorder
  const maxBytes = yield* RequestBody.maxBytes
  const tell = yield* StandardHeaders.teller
  const underWay = new Set<Fiber.Fiber<unknown>>()
  yield* Effect.addFinalizer(() => Fiber.interruptAll(underWay))
  const run = Effect.runForkWith(yield* Effect.context<never>())

  return (message, response, next) => {
    if (!isPlain(base, message)) return next()
    const started = StandardHeaders.startOf(message)
    const id = randomUUID()
    const method = message.method!
    const respond = (answer: CreateEvent.Answer) => {
      together(() => write(response, id, answer))
      const { refusal, status } = answer
      tell(id, { method, status, refusal, seconds: (performance.now() - started) / 1000 })
    }
    const refused = eventLane.refuse({ headers: headersOf(message) })
    if (refused !== undefined) return respond(refused)
    RequestState.enter(room, message)
    let read: Buffer | undefined
    const answer = eventLane.answer({
      method,
      url: BasePath.below(base, message.url!)!,
      headers: headersOf(message),
      source: message,
      body: Effect.map(NodeBody.collect(message, maxBytes), (bytes) => (read = bytes))
    })
    const fiber = run(Effect.annotateLogs(answer, "request_id", id))
    underWay.add(fiber)
    fiber.addObserver((exit) => {
      underWay.delete(fiber)
      if (Exit.isSuccess(exit) && exit.value === undefined) {
        if (read !== undefined) RequestBody.leave(message, read)
        return next()
      }
      RequestState.leave(message)
      if (Exit.isSuccess(exit)) return respond(exit.value!)
      // The client has gone, or the server ends.
      if (Cause.hasInterruptsOnly(exit.cause)) return void response.destroy()
      run(Effect.annotateLogs(Effect.logError("A request failed unexpectedly", exit.cause), "request_id", id))
      respond(CreateEvent.refusal(500, "internal", { id }))
    })
  }
})
