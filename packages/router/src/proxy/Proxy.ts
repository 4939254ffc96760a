/**
 * The recording proxy: passes requests to `/proxy/NAME/rest` on to the upstream of that name, and records the model calls among
 * them. It stands before a mount, which gets every other request.
 */
import { kindOf } from "@tachograph/capture/Kinds"
import type { Principal } from "@tachograph/core"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import * as BasePath from "../BasePath.ts"
import type { Authorizer } from "../front/Authorizer.ts"
import type { Front } from "../front/Front.ts"
import * as KeyWatch from "../front/KeyWatch.ts"
import { MaxBodyBytes } from "../front/RequestBody.ts"
import * as Node from "../mounts/Node.ts"
import * as Pipelining from "../mounts/Pipelining.ts"
import * as Web from "../mounts/Web.ts"
import type { Answer } from "../response/Answer.ts"
import * as Admit from "./Admit.ts"
import * as CallRecorder from "./CallRecorder.ts"
import { CopyBudget } from "./Copies.ts"
import { OpenPassages } from "./OpenPassages.ts"
import type { Followed } from "./Followed.ts"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"
import * as Gate from "./Gate.ts"
import * as NodePassage from "./NodePassage.ts"
import * as ProxyAnswers from "./ProxyAnswers.ts"
import * as ProxyErrors from "./ProxyErrors.ts"
import * as ProxyMetrics from "./ProxyMetrics.ts"
import type { ProxySettings } from "./ProxyOptions.ts"
import * as ProxyPath from "./ProxyPath.ts"
import * as ProxySockets from "./ProxySockets.ts"
import { ProxyClosing, UpstreamClient } from "./UpstreamClient.ts"
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

/** Bodies of requests whose path says nothing: a call in a format of somebody's own is in JSON, or in a form that uploads a file. */
const mayBeCall = (headers: ForwardedHeaders.RawHeaders): boolean =>
  /json|form-data/i.test(ForwardedHeaders.valueOf(headers, "content-type") ?? "json")

/** What the two doors of a proxy share. */
interface Doors {
  readonly base: string
  readonly client: UpstreamClient
  readonly passages: OpenPassages
  readonly admit: Admit.Admit
  readonly answers: Effect.Success<ReturnType<typeof ProxyAnswers.make>>
  readonly pathOf: (target: string) => ProxyPath.ProxyPath | undefined
  /** Where a request goes, which cannot become a WebSocket, or why it does not. */
  readonly requested: (visitor: Gate.Visitor, path: ProxyPath.ProxyPath) => Gate.Destination | Answer
  readonly follow: ReturnType<typeof following>
}

/** Follows a request that passes, and its call, where it may be a model call. */
const following =
  (metrics: ProxyMetrics.ProxyMetrics, passages: OpenPassages, beginCall: CallRecorder.CallRecorder["begin"]) =>
  (
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
      if (!hasEnded) onEnded = passages.add(() => cut(new ProxyClosing()))
    }
    return { copies: call?.copies, onBegin, onEnd }
  }

const visitorOf = (base: string, message: IncomingMessage): Gate.Visitor => ({
  method: message.method!,
  url: BasePath.targetIn(message.url!).slice(base.length),
  headers: message.headers as Gate.Visitor["headers"],
  source: message,
  httpVersion: message.httpVersion,
  remoteAddress: message.socket.remoteAddress
})

const nodeDoor = ({ admit, answers, base, client, passages, follow, pathOf, requested }: Doors): Proxy["node"] => {
  const admits = Pipelining.make()
  return (message, response) => {
    const path = pathOf(message.url!)
    if (path === undefined) return false
    // Each would have a connection to the upstream of its own.
    if (!admits(message, response)) return true
    const visitor = visitorOf(base, message)
    const refuse = (answer: Answer, id?: string) => Node.write(response, answers.refused(answer, id))
    const destination = requested(visitor, path)
    if ("status" in destination) {
      refuse(destination)
      return true
    }
    admit(visitor, (principal, id) => {
      if (response.closed) return
      if (principal === undefined || passages.isCut) return refuse(ProxyErrors.closing)
      if ("status" in principal) return refuse(principal, id)
      if (NodePassage.hasLostBody(message)) return refuse(ProxyErrors.bodyParsed)
      Node.markLive(response)
      const { onBegin, ...followed } = follow(visitor.method, destination, message.rawHeaders, principal)
      const onUnanswered = (error: Error) => Node.write(response, answers.unanswered(error, destination))
      onBegin(NodePassage.pass(client, { message, response, destination, ...followed, onUnanswered }))
    })
    return true
  }
}

const webDoor =
  ({ admit, answers, base, client, passages, follow, pathOf, requested }: Doors): Proxy["web"] =>
  (request) => {
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
    const refuse = (answer: Answer, id?: string) => Web.toResponse(method, answers.refused(answer, id))
    const destination = requested(visitor, path)
    if ("status" in destination) return Promise.resolve(refuse(destination))
    return new Promise((resolve, reject) =>
      admit(visitor, (principal, id) => {
        if (principal === undefined || passages.isCut) return resolve(refuse(ProxyErrors.closing))
        if ("status" in principal) return resolve(refuse(principal, id))
        if (request.signal.aborted) return reject(request.signal.reason)
        if (request.bodyUsed) return resolve(refuse(ProxyErrors.bodyParsed))
        const followed = follow(method, destination, Array.from(request.headers).flat(), principal)
        WebPassage.pass(client, { request, destination, ...followed }).then(resolve, (error) =>
          request.signal.aborted
            ? reject(error)
            : resolve(Web.toResponse(method, answers.unanswered(error, destination)))
        )
      })
    )
  }

/** Works until the scope is closed. */
export const make = Effect.fnUntraced(function* (settings: ProxySettings) {
  const base = yield* BasePath.BasePath
  const budget = new CopyBudget(settings.maxHeldBytes)
  const metrics = yield* ProxyMetrics.make(() => budget.held)
  const { begin: beginCall, countSocket, drop } = yield* CallRecorder.make(budget, metrics)
  const client = new UpstreamClient(settings)
  const passages = new OpenPassages()
  yield* Effect.addFinalizer(() => Effect.sync(() => client.close()))
  // Before the recorder ends, and the storage.
  yield* Effect.addFinalizer(() => Effect.sync(() => passages.cut()))
  const admit = yield* Admit.make(settings.isOpen)
  const answers = yield* ProxyAnswers.make(metrics)

  const pathOf = (target: string) => ProxyPath.match(BasePath.below(base, BasePath.targetIn(target)))
  const destinationOf = (visitor: Gate.Visitor, path: ProxyPath.ProxyPath) =>
    passages.isCut ? ProxyErrors.closing : Gate.destinationOf(visitor, path, settings.upstreams)
  const requested: Doors["requested"] = (visitor, path) => {
    const destination = destinationOf(visitor, path)
    return !("status" in destination) && Gate.asksForSocket(visitor) ? ProxyErrors.upgradeRefused : destination
  }
  const doors = {
    base,
    client,
    passages,
    admit,
    answers,
    pathOf,
    requested,
    follow: following(metrics, passages, beginCall)
  }

  const sockets = ProxySockets.make({
    ...{ budget, client, passages, metrics, admit, drop, ...answers },
    maxBytes: yield* MaxBodyBytes,
    watchKey: (yield* KeyWatch.make).watchKey,
    visitorOf: (message) => visitorOf(base, message),
    destinationOf: (visitor, target) => {
      const path = pathOf(target)
      return path && destinationOf(visitor, path)
    },
    begin: ({ rest, upstream }, headers, project) =>
      // What a message asks for is what a POST over HTTP does.
      beginCall({ method: "POST", kind: "call", upstream: upstream.name, rest, headers, project }),
    countUnrecorded: ({ rest, upstream }) => countSocket(rest, upstream.name)
  })

  return {
    node: nodeDoor(doors),
    web: webDoor(doors),
    upgrade: sockets.upgrade,
    asksForSocket: (message) =>
      message.method === "GET" && Gate.asksForSocket(visitorOf(base, message)) && pathOf(message.url!) !== undefined,
    isOurs: (target: string) => pathOf(target) !== undefined,
    none: () => passages.none(),
    retire: sockets.retire,
    cut: () => passages.cut()
  } satisfies Proxy
}) satisfies (settings: ProxySettings) => Effect.Effect<Proxy, never, Authorizer | Front | Scope.Scope>
