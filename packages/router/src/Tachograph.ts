/** The router for everybody: one function in, promises out. A few lines over the layers that Effect users compose. */
import { ApiKeys, isStaticKey, Recorder, type Storage, staticKeyRule } from "@tachograph/core"
import { ByteSize, Effect, Exit, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as StandardHeaders from "./front/StandardHeaders.ts"
import { type Authorize, Authorizer } from "./front/Authorizer.ts"
import * as BasePath from "./front/BasePath.ts"
import * as InProcess from "./mounts/InProcess.ts"
import * as NodeLane from "./mounts/Node.ts"
import * as Paths from "./front/Paths.ts"
import * as RequestBody from "./front/RequestBody.ts"
import * as Routes from "./Routes.ts"
import * as TachographError from "./TachographError.ts"
import { UnderWay } from "./mounts/InFlight.ts"

interface CommonOptions<E> {
  /** `sqlite("tachograph.db")`, `MemoryStorage.layer`, or any other layer of a `Storage`. */
  readonly storage: Layer.Layer<Storage, E>
  /**
   * Where everything is mounted: with `/tachograph`, `/tachograph/health` and `/tachograph/api/v1/events`. The root unless
   * given. Not needed where a framework takes the path off, as `app.use("/tachograph", tachograph.node)` of Express does.
   */
  readonly basePath?: string | undefined
  /** Bytes of a body, as sent and decompressed. 32 MiB unless given. */
  readonly maxBody?: number | undefined
}

interface ByKeys {
  /**
   * Keys of your own making, 20 characters or longer: they open the project `default` with every scope.
   */
  readonly apiKeys?: ReadonlyArray<string> | undefined
  readonly authorize?: undefined
}

interface ByRule {
  /** Your own rule, by session, header or whatever a request has; no API key opens anything then. */
  readonly authorize: Authorize
  readonly apiKeys?: undefined
}

export type TachographOptions<E> = CommonOptions<E> & (ByKeys | ByRule)

export interface Tachograph {
  /** For Hono, h3, Next.js: answers every request, with a 404 where the path is none of ours. */
  readonly fetch: (request: Request) => Promise<Response>
  /** For Express, Connect and plain `node:http`: calls `next` for what is not ours, and answers 404 where there is none. */
  readonly node: (request: IncomingMessage, response: ServerResponse, next?: () => void) => void
  /**
   * Registers what this process runs on, in process: takes the body of Create Fingerprint, and answers its id. Rejects with
   * a `TachographError`.
   */
  readonly fingerprint: (body: InProcess.Body, options?: InProcess.InProject) => Promise<string>
  /**
   * Records in process, without HTTP: takes the body of Create Event. It may be a JSON text, and so may its `inputs` and
   * `output` alone: texts are kept byte for byte. Resolves when the event is kept. Rejects with a `TachographError`, whose
   * `type` is the interface's, or `validation-error`.
   */
  readonly record: (body: InProcess.Body, options?: InProcess.RecordOptions) => Promise<InProcess.EventReceipt>
  /** Reads in process, without HTTP. */
  readonly recorder: InProcess.Reads
  /** Waits for what is under way, 10 s at most, then closes the storage. What comes later is answered 503. */
  readonly close: () => Promise<void>
}

/**
 * Opens the storage. Rejects with a `TachographError`, `storage-unavailable`, where it cannot be opened, and with a
 * `TypeError` where an option is not what it has to be.
 */
export const createTachograph = async <E>(options: TachographOptions<E>): Promise<Tachograph> => {
  check({ ...options })
  const base = BasePath.parse(options.basePath ?? "")
  const runtime = ManagedRuntime.make(services(options, base))
  const scope = Scope.makeUnsafe()
  const opening = await runtime.runPromiseExit(Scope.provide(handlers, scope))
  if (Exit.isFailure(opening)) {
    await runtime.dispose()
    throw TachographError.ofOpening(opening.cause)
  }
  const opened = opening.value
  let closed: Promise<void> | undefined

  const underWay = new UnderWay()
  const run = async <A>(effect: Effect.Effect<A, TachographError.Failure, Recorder>): Promise<A> => {
    if (closed !== undefined) throw new TachographError.TachographError("storage-unavailable")
    const exit = await underWay.add(() => runtime.runPromiseExit(effect))
    if (Exit.isSuccess(exit)) return exit.value
    throw TachographError.fromCause(exit.cause)
  }
  const close = async () => {
    await underWay.end()
    await runtime.runPromise(Scope.close(scope, Exit.void))
    await runtime.dispose()
  }

  return {
    fetch: (request) => (closed === undefined ? underWay.add(() => opened.fetch(request)) : Promise.resolve(gone())),
    node: (request, response, next) => {
      if (next !== undefined && !isOurs(base, request.url ?? "/")) return next()
      // The client may have gone while the host was at work on its request.
      if (response.closed) return
      if (closed !== undefined) return response.writeHead(503, goneHeaders()).end(goneBody)
      void underWay.add(() => new Promise((resolve) => response.once("close", resolve)))
      return opened.nodeLane(request, response, () => opened.node(request, response))
    },
    fingerprint: (body, options) => run(InProcess.fingerprint(body, options ?? {})),
    record: (body, options) => run(InProcess.record(body, options ?? {})),
    recorder: InProcess.reads(opened.handler, base, run),
    close: () => (closed ??= close())
  }
}

/** What JavaScript lets through. */
const check = ({ apiKeys, authorize, storage }: { readonly [option: string]: unknown }) => {
  if (!Layer.isLayer(storage)) throw new TypeError("storage: expected a storage, such as sqlite(path) or postgres(url)")
  if (apiKeys !== undefined && !(Array.isArray(apiKeys) && apiKeys.every(isStaticKey))) {
    throw new TypeError(`apiKeys: expected keys of your own making, each of ${staticKeyRule}`)
  }
  if (authorize === undefined) return
  if (typeof authorize !== "function") throw new TypeError("authorize: expected a function")
  if (apiKeys !== undefined) throw new TypeError("apiKeys, authorize: expected one of them, not both")
}

const services = <E>({ apiKeys = [], authorize, maxBody, storage }: TachographOptions<E>, base: string) => {
  const byKeys = ApiKeys.layer({ staticKeys: apiKeys.map((key) => Redacted.make(key)) })
  const authorizer =
    authorize === undefined ? Authorizer.layer.pipe(Layer.provide(byKeys)) : Authorizer.layerRule(authorize)
  return Layer.mergeAll(
    Layer.merge(Recorder.layer, authorizer).pipe(Layer.provideMerge(storage)),
    Layer.succeed(HttpServerRequest.MaxBodySize, ByteSize.bytes(maxBody ?? RequestBody.defaultMaxBody)),
    Layer.succeed(BasePath.BasePath, base)
  )
}

const isOurs = (base: string, url: string): boolean => {
  const path = BasePath.below(base, BasePath.pathIn(url))
  return path !== undefined && Paths.methodsOf(path) !== undefined
}

const handlers = Effect.gen(function* () {
  const httpEffect = yield* HttpRouter.toHttpEffect(Routes.layerNoDeps).pipe(
    Effect.provideService(HttpRouter.RouterConfig, Routes.routerConfig)
  )
  const context = yield* Effect.context<never>()
  return {
    handler: httpEffect,
    fetch: HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(httpEffect),
    node: yield* nodeHandler(httpEffect),
    nodeLane: yield* NodeLane.make
  }
})

type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

/** Loaded by the first request that needs it: whoever only uses `fetch`, as a function does, starts sooner without. */
const nodeHandler = Effect.fnUntraced(function* (
  httpEffect: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    unknown,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >
) {
  const scope = yield* Effect.scope
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const load = Effect.gen(function* () {
    const { makeHandler } = yield* Effect.promise(() => import("@effect/platform-node/NodeHttpServer"))
    return yield* makeHandler(httpEffect, { scope })
  })
  let loading: Promise<NodeHandler> | undefined
  let loaded: NodeHandler | undefined
  const answer: NodeHandler = (request, response) => {
    if (loaded !== undefined) return loaded(request, response)
    loading ??= run(load).then((handler) => (loaded = handler))
    void loading.then((handler) => handler(request, response))
  }
  return answer
})

const goneBody = JSON.stringify({ type: "storage-unavailable" })
const goneHeaders = () => ({
  "content-type": "application/json",
  "retry-after": "1",
  ...StandardHeaders.headers(randomUUID()),
  ...StandardHeaders.unkept
})
const gone = () => new Response(goneBody, { status: 503, headers: goneHeaders() })
