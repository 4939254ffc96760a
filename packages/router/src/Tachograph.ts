/** The router for everybody: one function in, promises out. A few lines over the layers that Effect users compose. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Fingerprints } from "@tachograph/api"
import { ApiKeys, CurrentProject, Recorder, type Storage } from "@tachograph/core"
import { ByteSize, DateTime, Effect, Exit, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as EventBody from "./EventBody.ts"
import { toFingerprint } from "./handlers/Fingerprints.ts"
import * as Paths from "./Paths.ts"
import * as RequestBody from "./RequestBody.ts"
import * as Routes from "./Routes.ts"
import { UnderWay } from "./UnderWay.ts"

export interface TachographOptions<E> {
  /** `sqlite("tachograph.db")`, `MemoryStorage.layer`, or any other layer of a `Storage`. */
  readonly storage: Layer.Layer<Storage, E>
  /**
   * Keys of your own making, 20 characters or longer: they open the project `default` with every scope. One that does not
   * fit rejects the promise.
   */
  readonly apiKeys?: ReadonlyArray<string> | undefined
  /** Bytes of a body, as sent and decompressed. 32 MiB unless given. */
  readonly maxBody?: number | undefined
}

export interface RecordOptions {
  /** 1 to 255 characters. The same body under the same key is recorded once, for 7 days. */
  readonly idempotencyKey?: string | undefined
}

export interface Tachograph {
  /** For Hono, Next.js, Bun, Deno: answers every request, with a 404 where the path is none of ours. */
  readonly fetch: (request: Request) => Promise<Response>
  /** For Express, Connect and plain `node:http`: calls `next` for what is not ours, and answers 404 where there is none. */
  readonly node: (request: IncomingMessage, response: ServerResponse, next?: () => void) => void
  /** Registers what this process runs on, in process: takes the body of Create Fingerprint, and answers its id. */
  readonly fingerprint: (body: object) => Promise<string>
  /**
   * Records in process, without HTTP: takes the body of Create Event. Resolves when the event is kept. Rejects with an
   * error whose `_tag` is the interface's `type`, or `validation-error` with its `detail`.
   */
  readonly record: (
    body: object,
    options?: RecordOptions
  ) => Promise<{ readonly event_id: string; readonly received_at: string }>
  /** Waits for what is under way, 10 s at most, then closes the storage. What comes later is answered 503. */
  readonly close: () => Promise<void>
}

/** Opens the storage; rejects if it cannot be opened. */
export const createTachograph = async <E>(options: TachographOptions<E>): Promise<Tachograph> => {
  const staticKeys = (options.apiKeys ?? []).map((key) => Redacted.make(key))
  const services = Layer.mergeAll(Recorder.layer, ApiKeys.layer({ staticKeys })).pipe(
    Layer.provideMerge(options.storage),
    Layer.provideMerge(
      Layer.succeed(HttpServerRequest.MaxBodySize, ByteSize.bytes(options.maxBody ?? RequestBody.defaultMaxBody))
    )
  )
  const runtime = ManagedRuntime.make(services)
  const scope = Scope.makeUnsafe()
  const opened = await runtime.runPromise(Scope.provide(handlers, scope)).catch(async (error) => {
    await runtime.dispose()
    throw error
  })

  const underWay = new UnderWay()
  const run = <A, F>(effect: Effect.Effect<A, F, Recorder>) => underWay.add(() => runtime.runPromise(effect))
  const close = async () => {
    await underWay.end()
    await runtime.runPromise(Scope.close(scope, Exit.void))
    await runtime.dispose()
  }
  let closed: Promise<void> | undefined

  return {
    fetch: (request) => (closed === undefined ? underWay.add(() => opened.fetch(request)) : Promise.resolve(gone())),
    node: (request, response, next) => {
      if (next !== undefined && Paths.methodsOf(request.url ?? "/") === undefined) return next()
      if (closed !== undefined) return response.writeHead(503, goneHeaders).end(goneBody)
      void underWay.add(() => new Promise((resolve) => response.once("close", resolve)))
      return opened.node(request, response)
    },
    fingerprint: (body) => run(fingerprint(body)),
    record: (body, options) => run(record(body, options)),
    close: () => (closed ??= close())
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

const goneBody = JSON.stringify({ type: "storage-unavailable" })
const goneHeaders = { "content-type": "application/json", "retry-after": "1" }
const gone = () => new Response(goneBody, { status: 503, headers: goneHeaders })

const fingerprintBody = RequestBody.decodeText(Fingerprints.CreateFingerprint)

const record = Effect.fnUntraced(function* (body: object, { idempotencyKey }: RecordOptions = {}) {
  const recorder = yield* Recorder
  const bytes = Buffer.from(JSON.stringify(body))
  const key = idempotencyKey === undefined ? undefined : yield* EventBody.decodeKey(idempotencyKey)
  const event = yield* EventBody.decode({ bytes, json: true }, yield* CurrentProject, recorder.beginningsOf)
  const { id, receivedAt } = yield* recorder.createEvent(EventBody.withKey(event, key, bytes))
  return { event_id: id, received_at: DateTime.formatIso(receivedAt) }
})

const fingerprint = Effect.fnUntraced(function* (body: object) {
  const recorder = yield* Recorder
  const { value } = yield* fingerprintBody(JSON.stringify(body))
  return yield* recorder.createFingerprint(toFingerprint(value))
})
