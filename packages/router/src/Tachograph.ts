/** The router for everybody: one function in, promises out. A few lines over the layers that Effect users compose. */
import { ApiKeys, type EventReceipt, type NewEvent, Recorder, type Storage } from "@tachograph/core"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Effect, Exit, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Paths from "./Paths.ts"
import { defaultMaxBody } from "./RequestBody.ts"
import * as Routes from "./Routes.ts"

export interface TachographOptions<E> {
  /** `sqlite("tachograph.db")`, `memory`, or any layer of a `Storage`. */
  readonly storage: Layer.Layer<Storage, E>
  /** Keys of your own making, 20 characters or longer: they open the project `default` with every scope. */
  readonly apiKeys?: ReadonlyArray<string> | undefined
  /** Bytes of a body, as sent and decompressed. 32 MiB unless given. */
  readonly maxBody?: number | undefined
}

export interface Tachograph {
  /** For Hono, Next.js, Bun, Deno: answers every request, with a 404 where the path is none of ours. */
  readonly fetch: (request: Request) => Promise<Response>
  /** For Express, Connect and plain `node:http`: calls `next` for what is not ours, and answers 404 where there is none. */
  readonly node: (request: IncomingMessage, response: ServerResponse, next?: () => void) => void
  /** Records in process, without HTTP. Resolves when the event is kept. */
  readonly record: (event: NewEvent) => Promise<EventReceipt>
  /** Ends what is under way, then closes the storage. */
  readonly close: () => Promise<void>
}

/** Opens the storage; rejects if it cannot be opened. */
export const createTachograph = async <E>(options: TachographOptions<E>): Promise<Tachograph> => {
  const staticKeys = (options.apiKeys ?? []).map((key) => Redacted.make(key))
  const services = Layer.mergeAll(Recorder.layer, ApiKeys.layer({ staticKeys })).pipe(
    Layer.provideMerge(options.storage),
    Layer.provideMerge(Layer.succeed(HttpServerRequest.MaxBodySize, ByteSize.bytes(options.maxBody ?? defaultMaxBody)))
  )
  const runtime = ManagedRuntime.make(services)
  try {
    const scope = await runtime.runPromise(Scope.make())
    const { fetch, node } = await runtime.runPromise(Scope.provide(handlers, scope))
    return {
      fetch,
      node: (request, response, next) =>
        next !== undefined && Paths.methodsOf(request.url ?? "/") === undefined ? next() : node(request, response),
      record: (event) => runtime.runPromise(Effect.flatMap(Recorder, (recorder) => recorder.createEvent(event))),
      close: async () => {
        await runtime.runPromise(Scope.close(scope, Exit.void))
        await runtime.dispose()
      }
    }
  } catch (error) {
    await runtime.dispose()
    throw error
  }
}

const handlers = Effect.gen(function* () {
  const httpEffect = yield* HttpRouter.toHttpEffect(Routes.layer).pipe(
    Effect.provideService(HttpRouter.RouterConfig, Routes.routerConfig)
  )
  const context = yield* Effect.context<never>()
  return {
    fetch: HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(httpEffect),
    node: yield* NodeHttpServer.makeHandler(httpEffect, { scope: yield* Effect.scope })
  }
})
