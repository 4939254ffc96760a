/** The mount for fetch handlers: Hono, h3, Next.js, Bun, Deno, and AWS Lambda. */
import { InFlightSet } from "@tachograph/core"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { Front } from "../front/Front.ts"
import { AnswerTimeout } from "../front/AnswerTimeout.ts"
import type { Pieces, Reply } from "../front/Reply.ts"
import type { TimedStream } from "../front/TimedStream.ts"
import * as Answer from "../response/Answer.ts"

/**
 * Answers every request, with a 404 if its path is not of the contract. Undefined if the scope is closed before there is an
 * answer.
 */
export type WebHandler = (request: Request) => Promise<Response | undefined>

/** Statuses whose responses have no body. */
const isBodiless = (method: string, status: number): boolean => method === "HEAD" || status === 204 || status === 304

export const toResponse = (method: string, { body, headers, live, pieces, status }: Reply): Response => {
  if (isBodiless(method, status)) return new Response(null, { status, headers })
  if (live !== undefined) return new Response(madeWhileRead(live), { status, headers })
  if (pieces !== undefined) return new Response(streamOf(pieces), { status, headers })
  return new Response(Answer.whole(body) as string | Uint8Array<ArrayBuffer>, { status, headers })
}

/** Makes each piece when the host asks for it, in a turn of the event loop of its own. */
const streamOf = (pieces: Pieces): ReadableStream<Uint8Array> => {
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const piece = pieces.next()
    // A copy, because the body is freed, or shared with other answers, and the host may transfer the buffer to another thread.
    if (piece !== undefined) controller.enqueue(new Uint8Array(piece))
    if (!pieces.isEmpty) return
    pieces.close()
    controller.close()
  }
  return new ReadableStream(
    {
      start: (controller) => {
        pieces.onTimeout = () => {
          pieces.close()
          controller.error(new AnswerTimeout())
        }
      },
      pull: (controller) =>
        new Promise((resolve, reject) =>
          setImmediate(() => {
            try {
              resolve(pull(controller))
            } catch (error) {
              reject(error)
            }
          })
        ),
      cancel: () => pieces.close()
    },
    { highWaterMark: 0 }
  )
}

/** Asks for each piece when the host does. A body that is cut fails its reader. */
const madeWhileRead = (live: TimedStream): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      start: (controller) => {
        live.onTimeout = () => {
          live.cancel()
          controller.error(new AnswerTimeout())
        }
      },
      pull: async (controller) => {
        const piece = await live.next()
        if (piece === undefined) controller.close()
        else controller.enqueue(piece)
      },
      cancel: () => live.cancel()
    },
    { highWaterMark: 0 }
  )

/** Throws if the host has read the body or is reading it; the front then answers 422. */
const bodyOf = async function* (request: Request): AsyncIterable<Uint8Array> {
  if (request.bodyUsed) throw new TypeError("The body was read before")
  if (request.body !== null) yield* request.body
}

/** Works until the scope is closed, which waits for events that are being committed. */
export const make: Effect.Effect<WebHandler, never, Front | Scope.Scope> = Effect.gen(function* () {
  const front = yield* Front
  const fibers = new InFlightSet<Fiber.Fiber<unknown>>()
  yield* Effect.addFinalizer(() => Fiber.interruptAll(fibers.values()))
  const run = Effect.runForkWith(yield* Effect.context<never>())

  /** Undefined if the scope is closed first. Rejects if the client disconnects. */
  const replyOf = (handled: Effect.Effect<Reply>, signal: AbortSignal): Promise<Reply | undefined> =>
    new Promise((resolve, reject) => {
      const fiber = run(handled, { signal })
      const remove = fibers.add(fiber)
      fiber.addObserver((exit) => {
        remove()
        if (exit._tag === "Success") resolve(exit.value)
        else if (signal.aborted) reject(Cause.squash(exit.cause))
        else resolve(undefined)
      })
    })

  return async (request) => {
    const { method, signal, url } = request
    const handled = front.handle({
      method,
      url,
      headers: Object.fromEntries(request.headers),
      source: request,
      body: bodyOf(request)
    })
    const reply = Effect.isEffect(handled) ? await replyOf(handled, signal) : handled
    if (reply?.live !== undefined) {
      if (signal.aborted) reply.live.cancel()
      signal.addEventListener("abort", reply.live.cancel, { once: true })
    }
    return reply && toResponse(method, reply)
  }
})
