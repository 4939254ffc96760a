/**
 * The recording proxy: passes requests to `/proxy/NAME/rest` on to the upstream of that name, and records the model calls among
 * them. It stands before a mount, which gets every other request.
 */
import { type Principal } from "@tachograph/core"
import { recognise } from "@tachograph/formats"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as BasePath from "../BasePath.ts"
import { Authorizer } from "../front/Authorizer.ts"
import type { Front } from "../front/Front.ts"
import { addStandardHeaders } from "../front/StandardHeaders.ts"
import * as Node from "../mounts/Node.ts"
import * as Web from "../mounts/Web.ts"
import type { Answer } from "../response/Answer.ts"
import * as ErrorAnswer from "../response/ErrorAnswer.ts"
import * as CallHeaders from "./CallHeaders.ts"
import * as CallRecorder from "./CallRecorder.ts"
import type * as ForwardedHeaders from "./ForwardedHeaders.ts"
import * as Gate from "./Gate.ts"
import * as NodePassage from "./NodePassage.ts"
import * as ProxyErrors from "./ProxyErrors.ts"
import * as ProxyMetrics from "./ProxyMetrics.ts"
import type { ProxySettings } from "./ProxyOptions.ts"
import * as ProxyPath from "./ProxyPath.ts"
import { CopyBudget } from "./Tap.ts"
import { UpstreamClient, UpstreamTimeout } from "./UpstreamClient.ts"
import * as WebPassage from "./WebPassage.ts"

export interface Proxy {
  /** Answers a request to a path of the proxy. Returns whether it does. */
  readonly node: (message: IncomingMessage, response: ServerResponse) => boolean
  /** Undefined if the path is not one of the proxy. */
  readonly web: (request: Request) => Promise<Response> | undefined
  /** Whether a request's target is one of the proxy. */
  readonly isOurs: (target: string) => boolean
}

/** The answer to a request that got none from its upstream. */
const answerOf = (error: Error): Answer =>
  error instanceof UpstreamTimeout ? ProxyErrors.upstreamTimeout : ProxyErrors.upstreamUnreachable

/** Works until the scope is closed. */
export const make = Effect.fnUntraced(function* (settings: ProxySettings) {
  const base = yield* BasePath.BasePath
  const budget = new CopyBudget(settings.maxHeldBytes)
  const metrics = yield* ProxyMetrics.make(() => budget.held)
  const beginCall = yield* CallRecorder.make(budget, metrics)
  const judge = Gate.make(yield* Authorizer, settings.isOpen)
  const answerErrors = ErrorAnswer.make()
  const client = new UpstreamClient(settings)
  const fibers = new Set<Fiber.Fiber<unknown>>()
  yield* Effect.addFinalizer(() => Effect.sync(() => client.close()))
  yield* Effect.addFinalizer(() => Fiber.interruptAll(fibers))
  const run = Effect.runForkWith(yield* Effect.context<never>())

  const pathOf = (target: string) => ProxyPath.match(BasePath.below(base, BasePath.targetIn(target)))

  const finish = (answer: Answer): Answer => addStandardHeaders(answer, randomUUID(), undefined)

  const refused = (answer: Answer): Answer => {
    metrics.count("refused")
    return finish(answer)
  }

  const unanswered = (error: Error): Answer => {
    metrics.count(error instanceof UpstreamTimeout ? "timeout" : "unreachable")
    return finish(answerOf(error))
  }

  /** Follows a request that passes. `call` is undefined where it is no model call. */
  const follow = (
    method: string,
    { rest }: Gate.Destination,
    headers: ForwardedHeaders.RawHeaders,
    { project }: Principal
  ) => {
    const isCall = method === "POST" && recognise(rest, undefined, CallHeaders.betaOf(headers)) !== null
    const call = isCall ? beginCall({ rest, headers, project }) : undefined
    const onEnd: NodePassage.OnEnd = (interruption, isAnswered) => {
      if (isAnswered) metrics.count(interruption === undefined ? "passed" : "cut")
      call?.end(interruption)
    }
    return { tap: call?.tap, onEnd }
  }

  /** Calls back with the principal, or with why there is none; undefined if the scope is closed first. */
  const admit = (visitor: Gate.Visitor, resume: (result: Principal | Answer | undefined) => void): void => {
    const judged = judge(visitor)
    if (!Effect.isEffect(judged)) return resume(judged)
    const fiber = run(answerErrors(judged, randomUUID()))
    fibers.add(fiber)
    fiber.addObserver((exit) => {
      fibers.delete(fiber)
      resume(exit._tag === "Success" ? exit.value : undefined)
    })
  }

  const node: Proxy["node"] = (message, response) => {
    const path = pathOf(message.url!)
    if (path === undefined) return false
    const visitor: Gate.Visitor = {
      method: message.method!,
      url: BasePath.targetIn(message.url!).slice(base.length),
      headers: message.headers as Gate.Visitor["headers"],
      source: message,
      httpVersion: message.httpVersion,
      remoteAddress: message.socket.remoteAddress
    }
    const refuse = (answer: Answer) => Node.write(response, refused(answer))
    const destination = Gate.destinationOf(visitor, path, settings.upstreams)
    if ("status" in destination) {
      refuse(destination)
      return true
    }
    admit(visitor, (principal) => {
      if (response.closed) return
      if (principal === undefined) return void response.destroy()
      if ("status" in principal) return refuse(principal)
      if (NodePassage.hasLostBody(message)) return refuse(ProxyErrors.bodyParsed)
      Node.markLive(response)
      NodePassage.pass(client, {
        message,
        response,
        destination,
        ...follow(visitor.method, destination, message.rawHeaders, principal),
        onUnanswered: (error) => Node.write(response, unanswered(error))
      })
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
    const destination = Gate.destinationOf(visitor, path, settings.upstreams)
    if ("status" in destination) return Promise.resolve(Web.toResponse(method, refused(destination)))
    return new Promise((resolve, reject) =>
      admit(visitor, (principal) => {
        if (principal === undefined) return reject(new Error("The proxy is closed"))
        if ("status" in principal) return resolve(Web.toResponse(method, refused(principal)))
        if (request.signal.aborted) return reject(request.signal.reason)
        if (request.bodyUsed) return resolve(Web.toResponse(method, refused(ProxyErrors.bodyParsed)))
        const followed = follow(method, destination, Array.from(request.headers).flat(), principal)
        WebPassage.pass(client, { request, destination, ...followed }).then(resolve, (error) =>
          request.signal.aborted ? reject(error) : resolve(Web.toResponse(method, unanswered(error)))
        )
      })
    )
  }

  return { node, web, isOurs: (target: string) => pathOf(target) !== undefined } satisfies Proxy
}) satisfies (settings: ProxySettings) => Effect.Effect<Proxy, never, Authorizer | Front | Scope.Scope>
