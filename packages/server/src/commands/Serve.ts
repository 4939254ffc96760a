/** `tachograph serve`: the standalone server. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import {
  ApiKeys,
  defaultProject,
  isStaticKey,
  Recorder,
  Retention,
  SessionCacheBytes,
  staticKeyRule
} from "@tachograph/core"
import { Authorizer, NodeLane, Routes } from "@tachograph/router"
import { ByteSize, Console, Effect, Layer, Redacted } from "effect"
import { Command } from "effect/cli"
import { HttpRouter, HttpServer, type HttpServerError, HttpServerRequest } from "effect/http"
import { CommandError, UsageError } from "../terminal/CliErrors.ts"
import * as Logging from "../config/Logging.ts"
import * as NodeServer from "../http/NodeServer.ts"
import * as ProcessMetrics from "../process/ProcessMetrics.ts"
import * as StartupMemory from "../process/StartupMemory.ts"
import type * as StorageChoice from "../config/StorageChoice.ts"
import * as Worker from "../workers/Worker.ts"
import * as Workers from "../workers/Workers.ts"
import * as ServeOptions from "./ServeOptions.ts"

/** The operator's own key. Only from the environment: other users of the machine can read command lines. */
const staticKeys = Effect.suspend(() => {
  const key = process.env["TACHOGRAPH_API_KEY"]
  if (!key) return Effect.succeed([])
  if (!isStaticKey(key)) {
    return Effect.fail(new UsageError({ message: `TACHOGRAPH_API_KEY is invalid: expected ${staticKeyRule}` }))
  }
  return Effect.succeed([Redacted.make(key)])
})

/** Issues and prints a key if there is none yet: without one, no request is authorized. */
const firstKey = Effect.gen(function* () {
  const keys = yield* ApiKeys
  if ((yield* keys.list).length > 0) return
  const [key] = yield* keys.issue({ project: defaultProject, name: "first key", scopes: ["admin"], expiresAt: null })
  yield* Console.log(`API key     ${Redacted.value(key)}   (not shown again; has every scope)`)
})

const announce = (choice: StorageChoice.StorageChoice, address: HttpServer.HttpServer["Service"]["address"]) =>
  Effect.gen(function* () {
    const url = HttpServer.formatAddress(address)
    yield* Console.log(`Tachograph  ${url}`)
    yield* Console.log(`Storage     ${choice.label}`)
    yield* Console.log(`Docs        ${url}/docs`)
  })

/** Explanations of the error codes of `listen`. */
const listenErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is taken; choose another with --port, or 0 for any",
  EACCES: "no permission to use the port",
  EADDRNOTAVAIL: "this machine does not have this address",
  ENOTFOUND: "this machine does not have this address"
}

const listeningError = (hostname: string, portNumber: number, error: HttpServerError.ServeError) => {
  const code = (error.cause as { readonly code?: string } | undefined)?.code
  const reason = listenErrors[code ?? ""] ?? String(error.cause)
  return new CommandError({ message: `Cannot listen on ${hostname}:${portNumber}: ${reason}` })
}

/** Without an origin no CORS headers are sent, and browsers block other sites' pages. */
const crossOrigin = (origin: string | undefined): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
  origin === undefined
    ? Layer.empty
    : HttpRouter.cors({
        allowedOrigins: [origin],
        allowedMethods: ["GET", "PUT", "POST", "DELETE"],
        exposedHeaders: ["Idempotent-Replayed", "Retry-After", "X-Request-Id"],
        maxAge: 600
      })

type Options = Effect.Success<ReturnType<typeof ServeOptions.resolve>>

/** A process that serves requests: the whole server, or one worker. */
const oneProcess = (
  options: Options,
  ownKeys: ReadonlyArray<Redacted.Redacted>,
  worker: Worker.Assignment | undefined
) => {
  const { choice, host, limits, retain } = options
  const port = worker?.port ?? options.port
  const nodeServer = Worker.retirable(NodeServer.make(limits))
  const server = NodeHttpServer.layer(() => nodeServer, {
    host,
    port,
    // With a shorter backlog, a burst of new connections would have to retry with exponential backoff.
    backlog: limits.maxConnections,
    gracefulShutdownTimeout: NodeServer.shutdownGraceMs
  }).pipe(Layer.catch((error) => Layer.effectContext(Effect.fail(listeningError(host, port, error)))))
  const lane = Effect.map(NodeLane.make, (lane) => {
    nodeServer.front = lane
  })
  const routes = HttpRouter.serve(Layer.mergeAll(Routes.layer, crossOrigin(options.cors)), {
    routerConfig: Routes.routerConfig,
    disableLogger: true,
    disableListenLog: true
  })
  const started = Effect.gen(function* () {
    yield* Effect.sync(StartupMemory.release)
    if (worker !== undefined) return yield* Worker.send({ type: "ready" })
    const { address } = yield* HttpServer.HttpServer
    yield* announce(choice, address)
    if (ownKeys.length === 0) yield* firstKey
  })
  return Layer.effectDiscard(started).pipe(
    // The address is printed only after the routes accept requests.
    Layer.provide(routes),
    Layer.provide(server),
    // Opened before the server and closed after it, so that requests in progress are finished.
    Layer.provide(Layer.effectDiscard(lane).pipe(Layer.provide(Authorizer.layer))),
    Layer.provide(Layer.succeed(HttpServerRequest.MaxBodySize, ByteSize.bytes(options.maxBodyBytes))),
    Layer.provide([Recorder.layer, ApiKeys.layer({ staticKeys: ownKeys })]),
    Layer.provide(Layer.succeed(SessionCacheBytes, options.sessionCacheBytes)),
    Layer.provide(retain === undefined ? Layer.empty : Retention.layer({ keep: retain })),
    // The primary has run the migrations for its workers.
    Layer.provide(options.migrate && worker === undefined ? choice.layer : choice.layerNoMigrations),
    Layer.provide([ProcessMetrics.layer, Worker.metrics])
  )
}

/** The primary: does what must be done once, and supervises the workers, which serve the requests. */
const primary = Effect.fnUntraced(function* (options: Options, hasKeys: boolean) {
  const { choice, host, limits, port, workers: count } = options
  yield* Effect.provide(Effect.void, options.migrate ? choice.layer : choice.layerNoMigrations)
  // Listens once to check that the port is free, or to let the system choose one; then the workers listen on it.
  const { address } = yield* NodeHttpServer.make(() => NodeServer.make(limits), { host, port }).pipe(
    Effect.scoped,
    Effect.mapError((error) => listeningError(host, port, error))
  )
  if (address._tag === "UnixPathAddress") return yield* Effect.die("a host and a port resolved to a Unix socket")
  const issue = firstKey.pipe(
    Effect.provide(ApiKeys.layer({ staticKeys: [] }).pipe(Layer.provide(choice.layerNoMigrations)))
  )
  return yield* Workers.run({
    count,
    port: address.port,
    started: Effect.andThen(announce(choice, address), hasKeys ? Effect.void : issue)
  })
})

export const serve = Command.make(
  "serve",
  ServeOptions.flags,
  Effect.fnUntraced(function* (flags) {
    const options = yield* ServeOptions.resolve(flags)
    const ownKeys = yield* staticKeys
    const worker = Worker.assignment
    const running =
      options.workers > 1 && worker === undefined
        ? primary(options, ownKeys.length > 0)
        : Layer.launch(oneProcess(options, ownKeys, worker))
    return yield* Effect.provide(running, Logging.layer(options.logLevel, worker?.number))
  })
).pipe(Command.withDescription("Run the server until SIGINT or SIGTERM"))
