/**
 * The recording proxy: passes requests to `/proxy/NAME/rest` on to the upstream of that name, and records the model calls among
 * them. It stands before a mount, which gets every other request.
 */
import { kindOf } from "@tachograph/capture/Kinds"
import { InFlightSet, type Principal } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import * as BasePath from "../BasePath.ts"
import { Authorizer } from "../front/Authorizer.ts"
import type { Front } from "../front/Front.ts"
import * as KeyWatch from "../front/KeyWatch.ts"
import { MaxBodyBytes } from "../front/RequestBody.ts"
import { addStandardHeaders } from "../front/StandardHeaders.ts"
import * as Node from "../mounts/Node.ts"
import * as Pipelining from "../mounts/Pipelining.ts"
import * as Web from "../mounts/Web.ts"
import type { Answer } from "../response/Answer.ts"
import * as ErrorAnswer from "../response/ErrorAnswer.ts"
import { BurstLog } from "./BurstLog.ts"
import * as CallRecorder from "./CallRecorder.ts"
import { CopyBudget } from "./Copies.ts"
import { Cuts } from "./Cuts.ts"
import type { Followed } from "./Followed.ts"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"
import * as Gate from "./Gate.ts"
import * as NodePassage from "./NodePassage.ts"
import * as ProxyErrors from "./ProxyErrors.ts"
import * as ProxyMetrics from "./ProxyMetrics.ts"
import type { ProxySettings } from "./ProxyOptions.ts"
import * as ProxyPath from "./ProxyPath.ts"
import * as ProxySockets from "./ProxySockets.ts"
import { UpstreamTimeout } from "./UpstreamAgents.ts"
import { codeOf, ProxyClosing, RequestBroken, UpstreamClient } from "./UpstreamClient.ts"
import * as WebPassage from "./WebPassage.ts"

export interface Proxy {
  /** Answers a request to a path of the proxy. Returns whether it does. */
  readonly node: (message: IncomingMessage, response: ServerResponse) => boolean
  /** Undefined if the path is not one of the proxy. */
  readonly web: (request: Request) => Promise<Response> | undefined
  /** Passes on a WebSocket, where `asksForSocket` is true. Returns whether its path is one of the proxy. */
  readonly upgrade: (message: IncomingMessage, socket: Duplex, head: Buffer) => boolean
  /** Whether `upgrade` may take a request. All others are answered as requests. */
  readonly asksForSocket: (message: IncomingMessage) => boolean
  /** Whether a request's target is one of the proxy. */
  readonly isOurs: (target: string) => boolean
  /** Resolves when nothing passes. */
  readonly none: () => Promise<void>
  /** Ends each WebSocket once no call is under way on it. Others pass on, until they end or are cut. */
  readonly retire: () => void
  /** Ends everything that still passes, and refuses what comes later. The calls are recorded as far as they came. */
  readonly cut: () => void
}

/** What the log says of a request without an answer: the upstream by its name, not by its URL. */
interface Unreached {
  readonly upstream: string
  readonly code: string | undefined
}

type Unanswered = "broken" | "closing" | "timeout" | "unreachable"

/** Why a request got no answer from its upstream. */
const reasonOf = (error: Error): Unanswered => {
  if (error instanceof ProxyClosing) return "closing"
  if (error instanceof RequestBroken) return "broken"
  return error instanceof UpstreamTimeout ? "timeout" : "unreachable"
}

const unansweredAnswers: Readonly<Record<Unanswered, Answer>> = {
  broken: ProxyErrors.upstreamUnreachable,
  closing: ProxyErrors.closing,
  timeout: ProxyErrors.upstreamTimeout,
  unreachable: ProxyErrors.upstreamUnreachable
}

/** Bodies of requests whose path says nothing: a call in a format of somebody's own is in JSON, or in a form that uploads a file. */
const mayBeCall = (headers: ForwardedHeaders.RawHeaders): boolean =>
  /json|form-data/i.test(ForwardedHeaders.valueOf(headers, "content-type") ?? "json")

/** Works until the scope is closed. */
export const make = Effect.fnUntraced(function* (settings: ProxySettings) {
  const base = yield* BasePath.BasePath
  const budget = new CopyBudget(settings.maxHeldBytes)
  const metrics = yield* ProxyMetrics.make(() => budget.held)
  const { begin: beginCall, countSocket, drop } = yield* CallRecorder.make(budget, metrics)
  const judge = Gate.make(yield* Authorizer, settings.isOpen)
  const answerErrors = ErrorAnswer.make()
  const client = new UpstreamClient(settings)
  const cuts = new Cuts()
  const fibers = new InFlightSet<Fiber.Fiber<unknown>>()
  yield* Effect.addFinalizer(() => Effect.sync(() => client.close()))
  // Before the recorder ends, and the storage.
  yield* Effect.addFinalizer(() => Effect.sync(() => cuts.cut()))
  yield* Effect.addFinalizer(() => Fiber.interruptAll(fibers.values()))
  const run = Effect.runForkWith(yield* Effect.context<never>())

  const pathOf = (target: string) => ProxyPath.match(BasePath.below(base, BasePath.targetIn(target)))

  const finish = (answer: Answer, id: string = randomUUID()): Answer => addStandardHeaders(answer, id, undefined)

  const refused = (answer: Answer, id?: string): Answer => {
    metrics.count("refused")
    return finish(answer, id)
  }

  const log = new BurstLog<Unreached>(({ code, upstream }, requests_not_logged) => {
    const warning = Effect.logWarning("A model provider could not be reached, or did not answer")
    run(Effect.annotateLogs(warning, { upstream, ...(code === undefined ? {} : { code }), requests_not_logged }))
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => log.end()))

  const unanswered = (error: Error, { upstream }: Gate.Destination): Answer => {
    const reason = reasonOf(error)
    const isOfUpstream = reason === "timeout" || reason === "unreachable"
    metrics.count(isOfUpstream ? reason : "cut")
    if (isOfUpstream) log.say({ upstream: upstream.name, code: codeOf(error) })
    return finish(unansweredAnswers[reason])
  }

  /** Follows a request that passes. `call` is undefined where it is no model call. */
  const follow = (
    method: string,
    { rest, upstream }: Gate.Destination,
    headers: ForwardedHeaders.RawHeaders,
    { project }: Principal
  ) => {
    const kind = kindOf(method, rest, () => mayBeCall(headers))
    const call = kind && beginCall({ kind, method, upstream: upstream.name, rest, headers, project })
    let onEnded: (() => void) | undefined
    let hasEnded = false
    const onEnd: Followed["onEnd"] = (ending, isAnswered) => {
      if (hasEnded) return
      hasEnded = true
      onEnded?.()
      if (isAnswered) metrics.count(ending === undefined ? "passed" : "cut")
      call?.end(ending?.interruption, ending?.code)
    }
    const onBegin = (cut: (reason: Error) => void) => {
      if (!hasEnded) onEnded = cuts.add(() => cut(new ProxyClosing()))
    }
    return { copies: call?.copies, onBegin, onEnd }
  }

  /**
   * Calls back with the principal, or with why there is none, and the id of the request that the log may have; undefined if the scope is
   * closed first.
   */
  const admit = (
    visitor: Gate.Visitor,
    resume: (result: Principal | Answer | undefined, id?: string) => void
  ): void => {
    const judged = judge(visitor)
    if (!Effect.isEffect(judged)) return resume(judged)
    const id = randomUUID()
    const fiber = run(Effect.annotateLogs(answerErrors(judged, id), "request_id", id))
    const remove = fibers.add(fiber)
    fiber.addObserver((exit) => {
      remove()
      resume(exit._tag === "Success" ? exit.value : undefined, id)
    })
  }

  const destinationOf = (visitor: Gate.Visitor, path: ProxyPath.ProxyPath) =>
    cuts.isCut ? ProxyErrors.closing : Gate.destinationOf(visitor, path, settings.upstreams)

  /** The same for a request, which cannot become a WebSocket. */
  const requested = (visitor: Gate.Visitor, path: ProxyPath.ProxyPath) => {
    const destination = destinationOf(visitor, path)
    return !("status" in destination) && Gate.asksForSocket(visitor) ? ProxyErrors.upgradeRefused : destination
  }

  const visitorOf = (message: IncomingMessage): Gate.Visitor => ({
    method: message.method!,
    url: BasePath.targetIn(message.url!).slice(base.length),
    headers: message.headers as Gate.Visitor["headers"],
    source: message,
    httpVersion: message.httpVersion,
    remoteAddress: message.socket.remoteAddress
  })

  const sockets = ProxySockets.make({
    budget,
    maxBytes: yield* MaxBodyBytes,
    client,
    cuts,
    metrics,
    watchKey: (yield* KeyWatch.make).watchKey,
    visitorOf,
    destinationOf: (visitor, target) => {
      const path = pathOf(target)
      return path && destinationOf(visitor, path)
    },
    admit,
    refused,
    unanswered,
    begin: ({ rest, upstream }, headers, project) =>
      // What a message asks for is what a POST over HTTP does.
      beginCall({ method: "POST", kind: "call", upstream: upstream.name, rest, headers, project }),
    drop,
    countUnrecorded: ({ rest, upstream }) => countSocket(rest, upstream.name)
  })

  const admits = Pipelining.make()

  const node: Proxy["node"] = (message, response) => {
    const path = pathOf(message.url!)
    if (path === undefined) return false
    // Each would have a connection to the upstream of its own.
    if (!admits(message, response)) return true
    const visitor = visitorOf(message)
    const refuse = (answer: Answer, id?: string) => Node.write(response, refused(answer, id))
    const destination = requested(visitor, path)
    if ("status" in destination) {
      refuse(destination)
      return true
    }
    admit(visitor, (principal, id) => {
      if (response.closed) return
      if (principal === undefined || cuts.isCut) return refuse(ProxyErrors.closing)
      if ("status" in principal) return refuse(principal, id)
      if (NodePassage.hasLostBody(message)) return refuse(ProxyErrors.bodyParsed)
      Node.markLive(response)
      const { onBegin, ...followed } = follow(visitor.method, destination, message.rawHeaders, principal)
      const onUnanswered = (error: Error) => Node.write(response, unanswered(error, destination))
      onBegin(NodePassage.pass(client, { message, response, destination, ...followed, onUnanswered }))
    })
    return true
  }

  const web: Proxy["web"] = (request) => {
    const path = pathOf(request.url)
    if (path === undefined) return undefined
    const { method } = request
    const visitor: Gate.Visitor = {
      method,
      url: BasePath.targetIn(request.url).slice(base.length),
      headers: Object.fromEntries(request.headers),
      source: request,
      httpVersion: undefined,
      remoteAddress: undefined
    }
    const destination = requested(visitor, path)
    if ("status" in destination) return Promise.resolve(Web.toResponse(method, refused(destination)))
    return new Promise((resolve, reject) =>
      admit(visitor, (principal, id) => {
        if (principal === undefined || cuts.isCut) {
          return resolve(Web.toResponse(method, refused(ProxyErrors.closing)))
        }
        if ("status" in principal) return resolve(Web.toResponse(method, refused(principal, id)))
        if (request.signal.aborted) return reject(request.signal.reason)
        if (request.bodyUsed) return resolve(Web.toResponse(method, refused(ProxyErrors.bodyParsed)))
        const followed = follow(method, destination, Array.from(request.headers).flat(), principal)
        WebPassage.pass(client, { request, destination, ...followed }).then(resolve, (error) =>
          request.signal.aborted ? reject(error) : resolve(Web.toResponse(method, unanswered(error, destination)))
        )
      })
    )
  }

  return {
    node,
    web,
    upgrade: sockets.upgrade,
    asksForSocket: (message) =>
      message.method === "GET" && Gate.asksForSocket(visitorOf(message)) && pathOf(message.url!) !== undefined,
    isOurs: (target: string) => pathOf(target) !== undefined,
    none: () => cuts.none(),
    retire: sockets.retire,
    cut: () => cuts.cut()
  } satisfies Proxy
}) satisfies (settings: ProxySettings) => Effect.Effect<Proxy, never, Authorizer | Front | Scope.Scope>
