/** The recorder as a function that returns promises: a few lines over the layers that Effect applications compose. */
import * as Patterns from "@tachograph/capture/masking/Patterns"
import {
  ApiKeys,
  DeriveBeforeReads,
  DeriveInBackground,
  Errors,
  isStaticKey,
  type OwnPrices,
  Prices,
  type Storage,
  staticKeyRule
} from "@tachograph/core"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import * as BasePath from "./BasePath.ts"
import {
  defaultOtlpWaitMs,
  IsStrict,
  OtlpWaitMs,
  ProxyUpstreams,
  RedactPatterns,
  ServesLangfuse,
  ServesViewer,
  SignInWay
} from "./Engine.ts"
import * as ThreadEngine from "./engine/thread/ThreadEngine.ts"
import { AnswerTimeoutMs, defaultAnswerTimeoutMs } from "./front/AnswerTimeout.ts"
import { type Authorize, Authorizer } from "./front/Authorizer.ts"
import { Front } from "./front/Front.ts"
import * as Paths from "./front/Paths.ts"
import * as RequestBody from "./front/RequestBody.ts"
import { addStandardHeaders } from "./front/StandardHeaders.ts"
import * as InProcess from "./mounts/InProcess.ts"
import * as Node from "./mounts/Node.ts"
import { CloseGraceMs, PendingCalls } from "./mounts/PendingCalls.ts"
import * as Web from "./mounts/Web.ts"
import * as Proxy from "./proxy/Proxy.ts"
import { namesOf, type ProxyOptions, type ProxySettings, settingsOfOption } from "./proxy/ProxyOptions.ts"
import type { Answer } from "./response/Answer.ts"
import * as ErrorAnswer from "./response/ErrorAnswer.ts"
import * as TachographError from "./TachographError.ts"

interface CommonOptions<E> {
  /** `sqlite("tachograph.db")`, `postgres(url)`, `MemoryStorage.layer`, or any other layer of a `Storage`. */
  readonly storage: Layer.Layer<Storage, E>
  /**
   * The path below which everything is mounted: `/tachograph` serves `/tachograph/health`. The root by default. Not needed
   * where the framework removes the path, as `app.use("/tachograph", tachograph.node)` of Express does.
   */
  readonly basePath?: string | undefined
  /** The limit on the length of an event's body, as sent and decompressed, in bytes. 32 MiB by default. */
  readonly maxBody?: number | undefined
  /** The limit on the length of every other body, as sent and decompressed, in bytes. 1 MiB by default. */
  readonly maxOtherBody?: number | undefined
  /** The limit on the length of a batch of events, as sent and decompressed, in bytes. 64 MiB by default. */
  readonly maxBatch?: number | undefined
  /** The limit on the lines of a batch of events. 10,000 by default. */
  readonly maxBatchLines?: number | undefined
  /**
   * How long a client may take nothing of an answer above 16 KiB, in milliseconds; then its connection is closed. 15 s by
   * default.
   */
  readonly answerTimeoutMs?: number | undefined
  /** Prices of your own, before those of the kept list: `PriceFile.parse(text)` of `@tachograph/prices` reads them. */
  readonly prices?: OwnPrices | undefined
  /**
   * Patterns whose matches are masked in every event before it is stored: the text of a list, one regular expression a line. Events are
   * verbatim after that.
   */
  readonly redact?: string | undefined
  /**
   * Whether events are processed and stored on a thread of their own, so that they never keep your routes waiting. True by
   * default, where the storage can be opened there: in memory, and with a layer of your own, it is not. `heapMib` is the
   * thread's largest heap in MiB, 1,024 by default.
   */
  readonly thread?: boolean | ThreadEngine.ThreadOptions | undefined
  /**
   * Whether the process runs between requests. Pass false where it may be frozen then, as on AWS Lambda: there are no other threads, and
   * what events add up to is added by the reads of it. True by default.
   */
  readonly runsBetweenRequests?: boolean | undefined
  /**
   * Passes requests to `/proxy/NAME/rest` on to model providers, and records the calls among them. `true` is `{}`. Without it there
   * is no such path.
   */
  readonly proxy?: boolean | ProxyOptions | undefined
  /**
   * How long a call that OpenTelemetry tells waits for what may say more of it, such as an ancestor with its session, in milliseconds; then it
   * is recorded as it is. 60 s by default.
   */
  readonly otlpWaitMs?: number | undefined
  /**
   * Whether `/api/public/otel/v1/traces` is served too, for exporters of Langfuse, which know no other path. It takes a key as the password of
   * `Basic`. False by default.
   */
  readonly langfusePath?: boolean | undefined
  /**
   * With `authorize`: where people log in, a path such as `/login` or a http(s) address. The viewer leads there whom the rule grants
   * nothing. Without it the viewer only says that the application decides.
   */
  readonly login?: string | undefined
  /** Whether the viewer is served, below `/viewer/`. True by default. */
  readonly viewer?: boolean | undefined
  /**
   * Whether a body with a field that Tachograph does not know is refused, also in process. False by default: such a field is ignored,
   * and the header `Tachograph-Ignored` of the answer names it.
   */
  readonly strict?: boolean | undefined
}

interface WithApiKeys {
  /**
   * Static keys, each of 20 characters or more. They open the project `default` with every scope.
   */
  readonly apiKeys?: ReadonlyArray<string> | undefined
  readonly authorize?: undefined
}

interface WithRule {
  /** A rule of your own, by session, header or anything else in a request. API keys open nothing then. */
  readonly authorize: Authorize
  readonly apiKeys?: undefined
}

export type TachographOptions<E> = CommonOptions<E> & (WithApiKeys | WithRule)

export interface Tachograph {
  /** For Hono, h3 and Next.js. Answers every request, with a 404 if its path is not of the contract. */
  readonly fetch: (request: Request) => Promise<Response>
  /** For Express, Connect and `node:http`. Calls `next` if the path is not of the contract; without `next`, answers 404. */
  readonly node: (request: IncomingMessage, response: ServerResponse, next?: () => void) => void
  /**
   * For the event `upgrade` of `node:http`: passes WebSockets of the proxy on. Returns whether it does; any other is the host's. Without
   * it, `node` answers them with 426.
   */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean
  /**
   * Registers the runtime of this process. Takes the body of Create Fingerprint, and answers the fingerprint's id. Rejects
   * with a `TachographError`.
   */
  readonly fingerprint: {
    (text: string, options?: InProcess.InProject): Promise<string>
    // The last one is what the compiler speaks of where nothing fits.
    (fingerprint: InProcess.NewFingerprint, options?: InProcess.InProject): Promise<string>
  }
  /**
   * Records in process, without HTTP. Takes the body of Create Event as a value or as a JSON text; within a value, `inputs`
   * and `output` may be JSON texts, which are kept byte for byte. Resolves when the event is committed. Rejects with a
   * `TachographError`, whose `type` is that of the wire, or `validation-error`.
   */
  readonly record: {
    (text: string, options?: InProcess.RecordOptions): Promise<InProcess.EventReceipt>
    (event: InProcess.NewEvent, options?: InProcess.RecordOptions): Promise<InProcess.EventReceipt>
  }
  /**
   * Every operation of the interface in process, without HTTP, as `createApi` of `@tachograph/client/api` calls them: rejects with an
   * `ApiError`. Takes a project beside the input.
   */
  readonly api: InProcess.Api
  /**
   * Waits for requests in flight, for at most 10 s, then closes the storage. Requests that are not complete by then, and later
   * ones, are answered 503. Answers that are made while they are taken, such as exports, are cut at once. What still passes the
   * proxy after the 10 s is cut, and recorded as far as it came.
   */
  readonly close: () => Promise<void>
}

/**
 * Opens the storage. Rejects with a `TachographError` of type `storage-unavailable` if it cannot be opened, and with a
 * `TypeError` if an option is wrong.
 */
export const createTachograph = async <E>(options: TachographOptions<E>): Promise<Tachograph> => {
  checkOptions({ ...options })
  const base = BasePath.parse(options.basePath ?? "")
  const proxySettings = settingsOfOption(options.proxy)
  const runtime = ManagedRuntime.make(services(options, base, namesOf(proxySettings)))
  const scope = Scope.makeUnsafe()
  const opening = await runtime.runPromiseExit(Scope.provide(mounts(proxySettings), scope))
  if (Exit.isFailure(opening)) {
    await runtime.dispose()
    throw TachographError.ofOpening(opening.cause)
  }
  const { endStreams, graceMs, node, proxy, web } = opening.value
  let closing: Promise<void> | undefined

  const pending = new PendingCalls()
  const run = async <A, E>(effect: Effect.Effect<A, E, Front>, signal?: AbortSignal): Promise<A> => {
    const exit = await pending.add(() => runtime.runPromiseExit(effect, { signal }))
    if (Exit.isSuccess(exit)) return exit.value
    throw Cause.hasInterruptsOnly(exit.cause) && signal?.aborted === true ? signal.reason : Cause.squash(exit.cause)
  }
  const runOpen = async <A>(effect: Effect.Effect<A, TachographError.TachographError, Front>): Promise<A> => {
    if (closing !== undefined) throw new TachographError.TachographError("storage-unavailable")
    return run(effect)
  }
  const close = async () => {
    endStreams()
    proxy?.retire()
    if (proxy !== undefined) void pending.add(proxy.none)
    await pending.end(graceMs)
    await runtime.runPromise(Scope.close(scope, Exit.void))
    await runtime.dispose()
  }

  return {
    fetch: async (request) => {
      const handle = () => proxy?.web(request) ?? web(request)
      const response = closing === undefined ? await pending.add(handle) : undefined
      return response ?? Web.toResponse(request.method, closedAnswer(base, request.url))
    },
    node: (request, response, next) => {
      if (closing !== undefined) {
        if (
          next !== undefined &&
          !isOurs(base, request.url!, servedBy(options)) &&
          proxy?.isOurs(request.url!) !== true
        )
          return next()
        return Node.write(response, closedAnswer(base, request.url!))
      }
      const isHandled = proxy?.node(request, response) === true || node(request, response, next)
      if (isHandled && !response.closed) {
        void pending.add(() => new Promise((resolve) => response.once("close", resolve)))
      }
    },
    upgrade: (request, socket, head) => proxy?.upgrade(request, socket, head) === true,
    fingerprint: (body: InProcess.Written, options?: InProcess.InProject) =>
      runOpen(InProcess.fingerprint(body, options ?? {})),
    record: (body: InProcess.Written, options?: InProcess.RecordOptions) =>
      runOpen(InProcess.record(body, options ?? {})),
    api: InProcess.api(async (reply, signal) =>
      closing === undefined ? run(reply, signal) : closedAnswer(base, base)
    ),
    close: () => (closing ??= close())
  }
}

const checkPatterns = (redact: unknown) => {
  if (typeof redact !== "string") throw new TypeError("redact: expected the text of a list of patterns")
  try {
    Patterns.parse(redact)
  } catch (error) {
    throw new TypeError(`redact: ${(error as Error).message}`)
  }
}

/** Browsers take `//host` and `/\host` for another site's address. */
const isLink = (login: unknown): boolean =>
  typeof login === "string" &&
  (/^\/(?![/\\])[^\s\p{Cc}]*$/u.test(login) || /^https?:$/.test(URL.parse(login)?.protocol ?? ""))

/** Checks what only TypeScript would refuse. */
const checkOptions = (options: { readonly [option: string]: unknown }) => {
  const { apiKeys, authorize, login, otlpWaitMs, redact, storage } = options
  if (!Layer.isLayer(storage)) throw new TypeError("storage: expected a storage, such as sqlite(path) or postgres(url)")
  if (apiKeys !== undefined && !(Array.isArray(apiKeys) && apiKeys.every(isStaticKey))) {
    throw new TypeError(`apiKeys: expected static keys, each of ${staticKeyRule}`)
  }
  if (redact !== undefined) checkPatterns(redact)
  if (otlpWaitMs !== undefined && !(Number.isFinite(otlpWaitMs) && Number(otlpWaitMs) > 0)) {
    throw new TypeError("otlpWaitMs: expected milliseconds, more than 0")
  }
  if (login !== undefined && !isLink(login)) {
    throw new TypeError("login: expected a path such as /login, or an address such as https://app.example.com/login")
  }
  if (authorize === undefined && login !== undefined) throw new TypeError("login: needs authorize")
  if (authorize === undefined) return
  if (typeof authorize !== "function") throw new TypeError("authorize: expected a function")
  if (apiKeys !== undefined) throw new TypeError("apiKeys, authorize: expected one of them, not both")
}

const services = <E>(
  {
    apiKeys = [],
    authorize,
    login,
    runsBetweenRequests = true,
    storage,
    thread = true,
    ...options
  }: TachographOptions<E>,
  base: string,
  upstreams: ReadonlyArray<string> | null
) => {
  const byKeys = ApiKeys.layerNoDeps({ staticKeys: apiKeys.map((key) => Redacted.make(key)) })
  const authorizer =
    authorize === undefined ? Authorizer.layer.pipe(Layer.provide(byKeys)) : Authorizer.layerRule(authorize)
  const engine =
    thread === false || !runsBetweenRequests
      ? ThreadEngine.localLayer(storage)
      : ThreadEngine.layerWherePossible(storage, thread === true ? {} : thread)
  return Front.layerNoDeps.pipe(
    Layer.provideMerge(authorizer),
    Layer.provideMerge(engine),
    Layer.provideMerge(
      Layer.mergeAll(
        Layer.succeed(RequestBody.MaxBodyBytes, options.maxBody ?? RequestBody.defaultMaxBody),
        Layer.succeed(RequestBody.MaxOtherBodyBytes, options.maxOtherBody ?? RequestBody.defaultMaxOtherBody),
        Layer.succeed(RequestBody.MaxBatchBytes, options.maxBatch ?? RequestBody.defaultMaxBatch),
        Layer.succeed(RequestBody.MaxBatchLines, options.maxBatchLines ?? RequestBody.defaultMaxBatchLines),
        Layer.succeed(AnswerTimeoutMs, options.answerTimeoutMs ?? defaultAnswerTimeoutMs),
        Layer.succeed(DeriveInBackground, runsBetweenRequests),
        Layer.succeed(DeriveBeforeReads, !runsBetweenRequests),
        Layer.succeed(Prices, { own: options.prices ?? null }),
        Layer.succeed(RedactPatterns, options.redact ?? null),
        Layer.succeed(BasePath.BasePath, base),
        Layer.succeed(ServesViewer, options.viewer ?? true),
        Layer.succeed(ProxyUpstreams, upstreams),
        Layer.succeed(ServesLangfuse, options.langfusePath ?? false),
        Layer.succeed(OtlpWaitMs, options.otlpWaitMs ?? defaultOtlpWaitMs),
        Layer.succeed(IsStrict, options.strict ?? false),
        authorize === undefined
          ? Layer.empty
          : Layer.succeed(SignInWay, { by: "application", login: login ?? null, logout: null })
      )
    )
  )
}

const servedBy = ({ langfusePath = false, viewer = true }: Pick<CommonOptions<never>, "langfusePath" | "viewer">) => ({
  langfuse: langfusePath,
  viewer
})

const isOurs = (base: string, url: string, served: Paths.Served): boolean => {
  const path = BasePath.below(base, BasePath.targetIn(url))
  return path !== undefined && Paths.isOurs(path, served)
}

const mounts = (proxy: ProxySettings | undefined) =>
  Effect.all({
    // `close` has waited then.
    node: Effect.provideService(Node.make, CloseGraceMs, 0),
    web: Web.make,
    proxy: proxy === undefined ? Effect.undefined : Proxy.make(proxy),
    graceMs: CloseGraceMs,
    endStreams: Effect.map(Front, (front) => front.endStreams)
  })

const storageUnavailable = ErrorAnswer.of(new Errors.StorageUnavailable({ cause: undefined }))!

/** The answer to every request after closing. */
const closedAnswer = (base: string, target: string): Answer =>
  addStandardHeaders(storageUnavailable, randomUUID(), BasePath.below(base, BasePath.targetIn(target)))
