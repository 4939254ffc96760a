/** The mount for fetch handlers: Hono, h3, Next.js, Bun, Deno, and AWS Lambda. */
import { Effect } from "effect"
import { Front } from "../front/Front.ts"
import type { Answer } from "../response/Answer.ts"

/** Answers every request, with a 404 if its path is not of the contract. */
export type WebHandler = (request: Request) => Promise<Response>

/** Statuses whose responses have no body. */
const isBodiless = (method: string, status: number): boolean => method === "HEAD" || status === 204

export const toResponse = (method: string, { body, headers, status }: Answer): Response =>
  new Response(isBodiless(method, status) ? null : (body as string | Uint8Array<ArrayBuffer>), { status, headers })

/** Throws if the host has read the body or is reading it; the front then answers 422. */
const bodyOf = async function* (request: Request): AsyncIterable<Uint8Array> {
  if (request.bodyUsed) throw new TypeError("The body was read before")
  if (request.body !== null) yield* request.body
}

export const make: Effect.Effect<WebHandler, never, Front> = Effect.gen(function* () {
  const front = yield* Front
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  return async (request) => {
    const { method, signal, url } = request
    const handled = front.handle({
      method,
      url,
      headers: Object.fromEntries(request.headers),
      source: request,
      body: bodyOf(request)
    })
    return toResponse(method, Effect.isEffect(handled) ? await run(handled, { signal }) : handled)
  }
})
