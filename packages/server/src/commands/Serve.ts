/** `tachograph serve`: the standalone server. */
import {
  ApiKeys,
  CurrentActor,
  defaultProject,
  isSignIn,
  isStaticKey,
  Prices,
  SessionCacheBytes,
  staticKeyRule
} from "@tachograph/core"
import {
  AnswerTimeoutMs,
  Authorizer,
  CloseGraceMs,
  Front,
  IsStrict,
  MaxBodyBytes,
  MaxBatchBytes,
  MaxBatchLines,
  MaxOtherBodyBytes,
  Node,
  Proxy,
  ProxyOptions,
  ProxyUpstreams,
  OtlpWaitMs,
  RedactPatterns,
  ServesLangfuse,
  ServesViewer,
  SignInKey,
  SignInWay,
  ThreadEngine,
  viewerPaths
} from "@tachograph/router"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Command } from "effect/cli"
import { CommandError, UsageError } from "../terminal/CliErrors.ts"
import * as EngineStorage from "./EngineStorage.ts"
import * as Schedule from "../backup/Schedule.ts"
import * as Logging from "../config/Logging.ts"
import * as Setting from "../config/Setting.ts"
import type { StorageChoice } from "../config/StorageChoice.ts"
import * as CrossOrigin from "../http/CrossOrigin.ts"
import * as NodeServer from "../http/NodeServer.ts"
import * as RootRedirect from "../http/RootRedirect.ts"
import * as SignInOptions from "../signin/Options.ts"
import * as Seal from "../signin/Seal.ts"
import * as SignInSession from "../signin/Session.ts"
import * as SignIn from "../signin/SignIn.ts"
import * as ProcessMetrics from "../process/ProcessMetrics.ts"
import * as GarbageCollection from "../process/GarbageCollection.ts"
import * as Table from "../terminal/Table.ts"
import * as Worker from "../workers/Worker.ts"
import * as Workers from "../workers/Workers.ts"
import { isLoopback } from "../config/ListeningHost.ts"
import * as ServeOptions from "./ServeOptions.ts"

/** The operator's own keys. Only from the environment: other users of the machine can read command lines. */
const staticKeys = Effect.suspend(() => {
  const value = process.env["TACHOGRAPH_API_KEY"]
  // Several, so that a key can be replaced while both are valid.
  const keys = value ? value.split(/, */) : []
  if (!keys.every(isStaticKey)) {
    const message = `TACHOGRAPH_API_KEY is invalid: expected ${staticKeyRule}; several with commas between them`
    return Effect.fail(new UsageError({ message }))
  }
  return Effect.succeed(keys.map((key) => Redacted.make(key)))
})

/**
 * Issues and prints a key if there is none yet: without one, no request is authorized. Returns the key. What is no terminal keeps
 * what is printed, as the journal of systemd does, and shows it to others: there is only said how to make a key.
 */
const firstKey = Effect.fnUntraced(function* ({ isPersistent }: StorageChoice) {
  const keys = yield* ApiKeys
  if ((yield* keys.list).some((key) => !isSignIn(key))) return undefined
  if (!process.stdout.isTTY) {
    const way = isPersistent ? `tachograph keys create --scope admin, on this storage` : `set TACHOGRAPH_API_KEY`
    yield* Console.log(`API key     none yet; make one: ${way}`)
    return undefined
  }
  const attributes = { project: defaultProject, name: "first key", scopes: ["admin"], expiresAt: null } as const
  const [issued] = yield* Effect.provideService(keys.issue(attributes), CurrentActor, "serve")
  const key = Redacted.value(issued)
  yield* Console.log(`API key     ${key}   (not shown again; has every scope)`)
  return key
})

/** A key for clients, which read the same variable, may be in it by mistake. */
const ownKey = Effect.as(Console.log("API key     from TACHOGRAPH_API_KEY; has every scope"), undefined)

/** The key is in the fragment, which no server sees: the viewer keeps it until its tab is closed. */
const announceViewer = (url: string, key: string | undefined) =>
  Console.log(`Viewer      ${url}${viewerPaths.viewer}${key === undefined ? "" : `#key=${key}`}`)

/** Lines below a line of the start. */
const below = " ".repeat(12)

/** Where the proxy passes calls on to, and who needs no key for it. */
const announceProxy = Effect.fnUntraced(function* ({ host, proxy }: Options, url: string) {
  if (proxy === undefined) return
  yield* Console.log(`Proxy       ${url}/proxy/NAME, NAME being`)
  const rows = Array.from(proxy.upstreams.values(), ({ host, name, path, protocol, via }) => [
    name,
    `${protocol}//${host}${path}${via === undefined ? "" : ` over the proxy ${via.hostname}:${via.port}`}`
  ])
  yield* Console.log(Table.format(rows).replaceAll(/^/gm, below))
  if (!proxy.isOpen) return
  const where = isLoopback(host) ? "" : " at localhost, 127.0.0.1 and [::1]; at any other address they do"
  yield* Console.log(`${below}programs on this machine need no key for it${where}`)
})

/** `issue` prints where the key comes from, and returns the first one, where this start makes it. */
const announce = Effect.fnUntraced(function* <E, R>(
  options: Options,
  url: string,
  issue: Effect.Effect<string | undefined, E, R>
) {
  yield* Console.log(`Tachograph  ${url}`)
  yield* Console.log(`Storage     ${options.choice.label}`)
  yield* announceProxy(options, url)
  if (options.signIn !== undefined) yield* Console.log(`Sign in at  ${options.signIn.issuer.href}`)
  yield* Console.log(`Docs        ${url}/docs`)
  const key = yield* issue
  if (options.viewer) yield* announceViewer(url, key)
})

/** Explanations of the error codes of `listen`. */
const listenErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is taken; choose another with --port, or 0 for any",
  EACCES: "no permission to use the port",
  EADDRNOTAVAIL: "this machine does not have this address",
  ENOTFOUND: "this machine does not have this address"
}

const listeningError = (hostname: string, port: number) => (error: NodeJS.ErrnoException) =>
  new CommandError({
    message: `Cannot listen on ${hostname}:${port}: ${listenErrors[error.code ?? ""] ?? String(error)}`
  })

const listen = (
  server: NodeServer.GracefulServer,
  { host, limits }: Options,
  port: number,
  onDeadline?: () => void
) => {
  // With a shorter backlog, a burst of new connections would have to retry with exponential backoff.
  const options = { host, port, backlog: limits.maxConnections }
  return Effect.mapError(NodeServer.listen(server, options, onDeadline), listeningError(host, port))
}

type Options = Effect.Success<ReturnType<typeof ServeOptions.resolve>>

/** How long events may take to be committed after the grace period of the requests, when their clients are gone (ms). */
const commitGraceMs = 500

/** Serves until it is interrupted. */
const serving = Effect.fnUntraced(function* (
  options: Options,
  hasKeys: boolean,
  worker: Worker.Assignment | undefined
) {
  // Made before the server and closed after it, so that requests in progress are finished.
  const mount = yield* Effect.provideService(Node.make, CloseGraceMs, commitGraceMs)
  const proxy = options.proxy && (yield* Proxy.make(options.proxy))
  const recorder: typeof mount = (request, response) =>
    proxy?.node(request, response) === true || mount(request, response)
  const signIn = options.signIn && (yield* SignIn.make(options.signIn))
  const viewed = options.viewer ? RootRedirect.to(viewerPaths.viewer.slice(1), recorder) : recorder
  const handler = signIn === undefined ? viewed : signIn(viewed)
  const server = Worker.retirable(NodeServer.make(options.limits, CrossOrigin.allow(options.cors, handler), proxy))
  const { url } = yield* listen(server, options, worker?.port ?? options.port, proxy?.cut)
  const { endStreams } = yield* Front
  // Before the server waits for its connections: such an answer may have no end, nor has a WebSocket.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      endStreams()
      proxy?.retire()
    })
  )
  yield* Effect.sync(GarbageCollection.run)
  if (options.backup !== undefined) yield* Schedule.start(options.backup, options.backup.file)
  if (worker !== undefined) return yield* Worker.send({ type: "ready" })
  yield* announce(options, url, hasKeys ? ownKey : firstKey(options.choice))
})

/** What the router knows of people who sign in. */
const signInOf = (options: SignInOptions.Options | undefined) =>
  options === undefined
    ? Layer.empty
    : Layer.mergeAll(
        Layer.succeed(SignInKey, SignInSession.keyIn(Seal.make(options.clientSecret))),
        Layer.succeed(SignInWay, {
          by: "oidc",
          login: SignInOptions.pathOf(options, "/login"),
          logout: SignInOptions.pathOf(options, "/logout")
        })
      )

/** The engine, and the storage of keys, which are where the storage is opened. */
const engine = ({ choice, retain, thread }: Options, migrate: boolean) => {
  const retainMs = retain && Duration.toMillis(retain)
  const storage = EngineStorage.open({ storage: Redacted.value(choice.source), migrate, retainMs })
  // In memory the engine is on this thread: another could not see what this one has stored.
  const layer =
    thread && choice.isPersistent ? ThreadEngine.layerWherePossible(storage) : ThreadEngine.localLayer(storage)
  return Layer.catch(layer, (error) =>
    Layer.effectContext(Effect.fail(new CommandError({ message: (error as Error).message })))
  )
}

/** A process that serves requests: the whole server, or one worker. */
const oneProcess = (
  options: Options,
  ownKeys: ReadonlyArray<Redacted.Redacted>,
  worker: Worker.Assignment | undefined
) =>
  Layer.effectDiscard(serving(options, ownKeys.length > 0, worker)).pipe(
    Layer.provide(Front.layerNoDeps),
    Layer.provide([
      Authorizer.layer,
      Layer.succeed(MaxBodyBytes, options.maxBodyBytes),
      Layer.succeed(MaxOtherBodyBytes, options.maxOtherBodyBytes),
      Layer.succeed(MaxBatchBytes, options.maxBatchBytes),
      Layer.succeed(MaxBatchLines, options.maxBatchLines),
      Layer.succeed(AnswerTimeoutMs, options.answerTimeoutMs),
      Layer.succeed(ServesLangfuse, options.langfusePath),
      Layer.succeed(IsStrict, options.strict)
    ]),
    Layer.provide(ApiKeys.layerNoDeps({ staticKeys: ownKeys })),
    // The primary has run the migrations for its workers.
    Layer.provide(engine(options, options.migrate && worker === undefined)),
    Layer.provide([
      Layer.succeed(SessionCacheBytes, options.sessionCacheBytes),
      Layer.succeed(Prices, { own: options.prices }),
      Layer.succeed(RedactPatterns, options.redact),
      signInOf(options.signIn),
      Layer.succeed(OtlpWaitMs, options.otlpWaitMs),
      Layer.succeed(ServesViewer, options.viewer),
      Layer.succeed(ProxyUpstreams, ProxyOptions.namesOf(options.proxy))
    ]),
    Layer.provide([ProcessMetrics.layer, Worker.metrics])
  )

/** The primary: does what must be done once, and supervises the workers, which serve the requests. */
const primary = Effect.fnUntraced(function* (options: Options, hasKeys: boolean) {
  const { choice, limits, workers: count } = options
  yield* Effect.provide(Effect.void, options.migrate ? choice.layer : choice.layerNoMigrations)
  // Listens once to check that the port is free, or to let the system choose one; then the workers listen on it.
  const probe = NodeServer.make(limits, (_request, response) => response.destroy())
  const address = yield* Effect.scoped(listen(probe, options, options.port))
  const issue = firstKey(choice).pipe(
    Effect.provide(ApiKeys.layer({ staticKeys: [] }).pipe(Layer.provide(choice.layerNoMigrations)))
  )
  return yield* Workers.run({
    count,
    port: address.port,
    started: announce(options, address.url, hasKeys ? ownKey : issue)
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
    // Once, and not by each worker.
    const misspelt = worker === undefined ? Setting.misspelt(process.env) : []
    return yield* Effect.forEach(misspelt, (warning) => Effect.logWarning(warning), { discard: true }).pipe(
      Effect.andThen(running),
      Effect.provide(Logging.layer(options.logLevel, worker?.number))
    )
  })
).pipe(Command.withDescription("Run the server until SIGINT or SIGTERM, with --proxy the recording proxy too"))
