/** `tachograph serve`: the standalone server. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import {
  ApiKeys,
  defaultProject,
  isStaticKey,
  Recorder,
  Retention,
  SessionMemoryBytes,
  staticKeyRule
} from "@tachograph/core"
import { Routes } from "@tachograph/router"
import { ByteSize, Console, Duration, Effect, Layer, Option, Redacted } from "effect"
import { Command } from "effect/cli"
import { HttpRouter, HttpServer, type HttpServerError, HttpServerRequest } from "effect/http"
import { CommandError, UsageError } from "../Failure.ts"
import * as Logging from "../Logging.ts"
import * as NodeServer from "../NodeServer.ts"
import * as Setting from "../Setting.ts"
import * as StorageChoice from "../StorageChoice.ts"

const host = Setting.make({
  name: "host",
  metavar: "HOST",
  description: "The address to listen on",
  default: "127.0.0.1",
  expected: "an address or a host name",
  parse: Option.liftPredicate((text) => /^[\w.:%-]+$/.test(text))
})

const port = Setting.make({
  name: "port",
  metavar: "PORT",
  description: "The port to listen on; 0 lets the system choose",
  default: "4400",
  expected: "a port, 0 to 65535",
  parse: (text) => Option.filter(Option.some(/^\d{1,5}$/.test(text) ? Number(text) : -1), (n) => n >= 0 && n <= 65_535)
})

const parseBytes = (min: number, max: number) => (text: string) => {
  const [, number, unit] = /^(\d+)\s*(|B|KiB|MiB|GiB)$/i.exec(text) ?? []
  const factor = { b: 1, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 }[unit?.toLowerCase() || "b"] ?? 1
  return Option.filter(Option.some(Number(number) * factor), (bytes) => bytes >= min && bytes <= max)
}

const maxBody = Setting.make({
  name: "max-body",
  metavar: "BYTES",
  description: "The largest body taken, as sent and decompressed",
  default: "32MiB",
  // V8 holds no text longer than half a gibibyte.
  expected: "a number of bytes up to 511MiB, such as 1048576, 512KiB or 32MiB",
  parse: parseBytes(1, 511 * 1024 ** 2)
})

const maxHeader = Setting.make({
  name: "max-header",
  metavar: "BYTES",
  description: "The largest request line and headers taken",
  default: "16KiB",
  expected: "a number of bytes up to 1MiB, such as 16384 or 16KiB",
  parse: parseBytes(1, 1024 ** 2)
})

const requestTimeout = Setting.make({
  name: "request-timeout",
  metavar: "TIME",
  description: "How long a client may take to send a request",
  default: "14s",
  expected: "a time from 1s to 1h, such as 14s or 2m",
  parse: (text) => {
    const [, number, unit] = /^(\d+)(s|m|h)$/.exec(text) ?? []
    const seconds = Number(number) * ({ s: 1, m: 60, h: 3600 }[unit ?? ""] ?? 0)
    return Option.filter(Option.some(seconds * 1_000), (ms) => ms >= 1_000 && ms <= 3_600_000)
  }
})

const maxConnections = Setting.make({
  name: "max-connections",
  metavar: "COUNT",
  description: "Connections at once; further ones are closed as they come",
  default: "4096",
  expected: "a number from 1 to 1000000",
  parse: (text) => Option.filter(Option.some(/^\d+$/.test(text) ? Number(text) : 0), (n) => n >= 1 && n <= 1_000_000)
})

const sessionMemory = Setting.make({
  name: "session-memory",
  metavar: "BYTES",
  description: "Memory for what is known of sessions; what is forgotten is read again",
  default: "64MiB",
  expected: "a number of bytes from 0 to 64GiB, such as 0, 16MiB or 1GiB",
  parse: parseBytes(0, 64 * 1024 ** 3)
})

const hours: Readonly<Record<string, number>> = { h: 1, d: 24 }
const maxRetainedDays = 36_500

const retain = Setting.make({
  name: "retain",
  metavar: "TIME",
  description: "How long events are kept; older ones are erased in the background, in all projects",
  default: "none",
  expected: `a time from 1h to ${maxRetainedDays}d, such as 12h or 90d, or none`,
  parse: (text): Option.Option<Duration.Duration | undefined> => {
    if (text === "none") return Option.some(undefined)
    const [, count, unit] = /^(\d+)([hd])$/.exec(text) ?? []
    const kept = Number(count) * (hours[unit ?? ""] ?? 0)
    return Option.map(
      Option.filter(Option.some(kept), (kept) => kept >= 1 && kept <= 24 * maxRetainedDays),
      Duration.hours
    )
  }
})

const migrate = Setting.make({
  name: "migrate",
  metavar: "YES|NO",
  description: "Whether to bring the tables up to date at the start, or to expect them to be",
  default: "yes",
  expected: "yes or no",
  parse: (text) => (text === "yes" || text === "no" ? Option.some(text === "yes") : Option.none())
})

const cors = Setting.make({
  name: "cors",
  metavar: "ORIGIN",
  description: "An origin whose pages may call the server from a browser",
  default: "none",
  expected: "an origin such as https://app.example.com, or none",
  parse: (text): Option.Option<string | undefined> =>
    text === "none"
      ? Option.some(undefined)
      : Option.filter(Option.some(text), () => URL.canParse(text) && new URL(text).origin === text)
})

/** A key of the operator's own making: only from the environment, where other users of the machine do not see it. */
const staticKeys = Effect.suspend(() => {
  const key = process.env["TACHOGRAPH_API_KEY"]
  if (!key) return Effect.succeed([])
  if (!isStaticKey(key)) {
    return Effect.fail(new UsageError({ message: `TACHOGRAPH_API_KEY does not fit: expected ${staticKeyRule}` }))
  }
  return Effect.succeed([Redacted.make(key)])
})

/** Without any key nobody could come in: makes the first one, and shows it this once. */
const firstKey = Effect.gen(function* () {
  const keys = yield* ApiKeys
  if ((yield* keys.list).length > 0) return
  const [key] = yield* keys.issue({ project: defaultProject, name: "first key", scopes: ["admin"], expiresAt: null })
  yield* Console.log(`API key     ${Redacted.value(key)}   (shown this once; every scope)`)
})

const announce = (choice: StorageChoice.StorageChoice) =>
  Effect.gen(function* () {
    const server = yield* HttpServer.HttpServer
    const url = HttpServer.formatAddress(server.address)
    yield* Console.log(`Tachograph  ${url}`)
    yield* Console.log(`Storage     ${choice.label}`)
    yield* Console.log(`Docs        ${url}/docs`)
  })

/** Expected where the address is in use or not ours; its cause says which. */
const listeningError = (hostname: string, portNumber: number, error: HttpServerError.ServeError) => {
  const code = (error.cause as { readonly code?: string } | undefined)?.code
  const reason =
    code === "EADDRINUSE"
      ? "the port is taken; choose another with --port, or 0 for any"
      : code === "EACCES"
        ? "no permission to use the port"
        : code === "EADDRNOTAVAIL" || code === "ENOTFOUND"
          ? "this machine has no such address"
          : String(error.cause)
  return new CommandError({ message: `Cannot listen on ${hostname}:${portNumber}: ${reason}` })
}

/** Without an origin a browser keeps other sites' pages out by itself. */
const crossOrigin = (origin: string | undefined): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
  origin === undefined
    ? Layer.empty
    : HttpRouter.cors({ allowedOrigins: [origin], allowedMethods: ["GET", "PUT", "POST", "DELETE"], maxAge: 600 })

export const serve = Command.make(
  "serve",
  {
    storage: StorageChoice.setting.flag,
    host: host.flag,
    port: port.flag,
    maxBody: maxBody.flag,
    maxHeader: maxHeader.flag,
    maxConnections: maxConnections.flag,
    requestTimeout: requestTimeout.flag,
    sessionMemory: sessionMemory.flag,
    retain: retain.flag,
    cors: cors.flag,
    migrate: migrate.flag,
    logLevel: Logging.setting.flag
  },
  Effect.fnUntraced(function* (flags) {
    const choice = yield* StorageChoice.setting.resolve(flags.storage)
    const hostname = yield* host.resolve(flags.host)
    const portNumber = yield* port.resolve(flags.port)
    const bodyLimit = yield* maxBody.resolve(flags.maxBody)
    const limits = {
      maxHeader: yield* maxHeader.resolve(flags.maxHeader),
      maxConnections: yield* maxConnections.resolve(flags.maxConnections),
      requestTimeout: yield* requestTimeout.resolve(flags.requestTimeout)
    }
    const memoryLimit = yield* sessionMemory.resolve(flags.sessionMemory)
    const keep = yield* retain.resolve(flags.retain)
    const origin = yield* cors.resolve(flags.cors)
    const storage = (yield* migrate.resolve(flags.migrate)) ? choice.layer : choice.layerNoMigrations
    const logLevel = yield* Logging.setting.resolve(flags.logLevel)
    const ownKeys = yield* staticKeys

    const server = NodeHttpServer.layer(() => NodeServer.make(limits), {
      host: hostname,
      port: portNumber,
      gracefulShutdownTimeout: NodeServer.grace
    }).pipe(Layer.catch((error) => Layer.effectContext(Effect.fail(listeningError(hostname, portNumber, error)))))
    const routes = HttpRouter.serve(Layer.mergeAll(Routes.layer, crossOrigin(origin)), {
      routerConfig: Routes.routerConfig,
      disableLogger: true,
      disableListenLog: true
    })
    const app = Layer.effectDiscard(
      Effect.andThen(announce(choice), ownKeys.length === 0 ? firstKey : Effect.void)
    ).pipe(
      // Nothing is announced before it answers.
      Layer.provide(routes),
      Layer.provide(Layer.succeed(HttpServerRequest.MaxBodySize, ByteSize.bytes(bodyLimit))),
      Layer.provide(server),
      Layer.provide([Recorder.layer, ApiKeys.layer({ staticKeys: ownKeys })]),
      Layer.provide(Layer.succeed(SessionMemoryBytes, memoryLimit)),
      Layer.provide(keep === undefined ? Layer.empty : Retention.layer({ keep })),
      Layer.provide(storage),
      Layer.provide(Logging.layer(logLevel))
    )
    yield* Layer.launch(app)
  })
).pipe(Command.withDescription("Run the server, until SIGINT or SIGTERM"))
