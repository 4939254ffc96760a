/**
 * The one way in. Every mount hands its requests to `handle`, which judges each of these once and in this order: admission (of
 * requests whose path records events), framing, path and method, key, scope, body. The engine handles what passes.
 */
import { type AuthorizationUnavailableError, ForbiddenError, UnauthorizedError } from "@tachograph/api"
import {
  type ApiKeys,
  defaultProject,
  Errors,
  InFlightSet,
  type Permit,
  type Principal,
  type Recorder,
  type Scope,
  type Storage
} from "@tachograph/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as BasePath from "../BasePath.ts"
import type { PassedCall } from "../calls/PassedCall.ts"
import { Engine, isCounted, IsStrict, ReserveAnswer, ServesViewer } from "../Engine.ts"
import * as LocalEngine from "../engine/LocalEngine.ts"
import * as Answer from "../response/Answer.ts"
import * as ErrorAnswer from "../response/ErrorAnswer.ts"
import { accessLogger } from "./AccessLog.ts"
import { AnswerTimeoutMs } from "./AnswerTimeout.ts"
import * as AmbiguousRequest from "./AmbiguousRequest.ts"
import * as Authorization from "./Authorization.ts"
import { Authorizer } from "./Authorizer.ts"
import * as BodyOnTheWay from "./BodyOnTheWay.ts"
import * as KeyWatch from "./KeyWatch.ts"
import * as Paths from "./Paths.ts"
import * as Reply from "./Reply.ts"
import * as RequestBody from "./RequestBody.ts"
import * as RequestState from "./RequestState.ts"
import { addStandardHeaders } from "./StandardHeaders.ts"
import type { TimedStream } from "./TimedStream.ts"

/** A request as a mount received it. */
export interface Incoming {
  readonly method: string
  /** The target as it was sent: path and query, with or without scheme and host. */
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The object that the mount received, which a host's rule sees. */
  readonly source: object
  readonly body: RequestBody.BodySource
  /** Called before the body is read. */
  readonly onReadBody?: (() => void) | undefined
  /** The principal of a call in process, which needs no key. */
  readonly principal?: Principal | undefined
  /** Whether the client has not yet taken the answers before this one on its connection. */
  readonly isBehind?: (() => boolean) | undefined
  /** A call that passed the proxy, whose event is to be made of it instead of the body. */
  readonly passed?: Passed | undefined
}

interface Passed {
  readonly call: PassedCall
  /** The copies of its bodies, each of them within the limit. Nothing else uses their memory. */
  readonly copies: Uint8Array
}

type Handled = Reply.Reply | Effect.Effect<Reply.Reply>

export class Front extends Context.Service<
  Front,
  {
    /**
     * Answers at once what is refused without waiting, and otherwise with an effect. The effect never fails; it is interrupted
     * when the client disconnects before its body is complete.
     */
    readonly handle: (incoming: Incoming) => Handled
    /** The same for a mount that has another handler: undefined if the path is not of the contract. */
    readonly handleOwn: (incoming: Incoming) => Handled | undefined
    /** Cuts all answers that are being made while they are taken: some of them have no end. */
    readonly endStreams: () => void
  }
>()("tachograph/router/Front") {
  /** Uses the engine and the authorizer that the application provides. */
  static readonly layerNoDeps: Layer.Layer<Front, never, Engine | Authorizer> = Layer.effect(
    Front,
    Effect.suspend(() => make)
  )

  /** Uses the engine on this thread, and authorizes by API key. */
  static readonly layer: Layer.Layer<Front, never, Recorder | Storage | ApiKeys> = this.layerNoDeps.pipe(
    Layer.provide([LocalEngine.layer, Authorizer.layer])
  )
}

const overloaded = ErrorAnswer.of(new Errors.Overloaded())!
const unauthorized = ErrorAnswer.of(new UnauthorizedError())!
const forbidden = ErrorAnswer.of(new ForbiddenError())!
const notFound = Answer.refuse(404, "not-found")

const proxyOff = Answer.refuse(
  404,
  "not-found",
  {},
  { message: "The proxy is off: start with --proxy, or pass proxy to createTachograph." }
)

/** Where the proxy is on, it answers the requests to its paths before. */
const notFoundAt = (url: string | undefined): Answer.Answer =>
  /^\/proxy(?![^/?])/.test(url ?? "") ? proxyOff : notFound

const framingErrors: Readonly<Record<AmbiguousRequest.Classification, Answer.Answer | undefined>> = {
  clear: undefined,
  ambiguous: Answer.closing(Answer.refuse(400, "bad-request")),
  "duplicate-authorization": Answer.closing(unauthorized)
}

const methodNotAllowed = (method: string, allowed: Paths.Allowed): Answer.Answer => {
  const allow = { allow: allowed.join(", ") }
  return method === "OPTIONS" ? Answer.empty(allow) : Answer.refuse(405, "method-not-allowed", allow)
}

/** The sender of a request to an endpoint that needs no key. */
const anonymous: Principal = { project: defaultProject, scopes: [], id: "nobody" }

const noBody = { bytes: new Uint8Array(), isOwned: false }

/** The headers that say how a request is answered. A range is one of what GET answers (RFC 9110, section 14.2). */
const headersFor = (method: string, headers: Incoming["headers"]): Incoming["headers"] => {
  if (method === "GET" || headers["range"] === undefined) return headers
  return { ...headers, range: undefined }
}

/** What an answer to a write has at most beside what was sent (bytes): numbers and times. */
const maxAddedBytes = 1024

const make = Effect.gen(function* () {
  const base = yield* BasePath.BasePath
  const servesViewer = yield* ServesViewer
  const authorizer = yield* Authorizer
  const { admission, handle: handleInEngine } = yield* Engine
  const readBody = yield* RequestBody.make
  const logAccess = yield* accessLogger
  const answerErrors = ErrorAnswer.make()
  const answerTimeoutMs = yield* AnswerTimeoutMs
  const maxEventBytes = yield* RequestBody.MaxBodyBytes
  const maxOtherBytes = yield* RequestBody.MaxOtherBodyBytes
  const isStrict = yield* IsStrict
  const streams = new InFlightSet<TimedStream>()
  const keys = yield* KeyWatch.make

  const principalOf = (
    state: RequestState.RequestState,
    incoming: Incoming,
    url: string
  ): Effect.Effect<Principal | undefined, Errors.StorageUnavailable | AuthorizationUnavailableError> => {
    if (incoming.principal !== undefined) return Effect.succeed(incoming.principal)
    const credential = (state.credential = Authorization.credentialIn(incoming.headers["authorization"]))
    const cached = authorizer.cachedPrincipal(credential)
    return cached === undefined ? authorizer.authorize({ ...incoming, url }, credential) : Effect.succeed(cached)
  }

  /** The principal, where it may use the endpoint. */
  const authorize = Effect.fnUntraced(function* (
    state: RequestState.RequestState,
    incoming: Incoming,
    url: string,
    scopes: ReadonlyArray<Scope>
  ) {
    const principal = yield* principalOf(state, incoming, url)
    if (principal === undefined) return unauthorized
    return Authorization.opens(principal.scopes, scopes) ? principal : forbidden
  })

  const bodyOf = ({ body, headers, passed }: Incoming, { isRecording }: Paths.Match["route"], permit: Permit) => {
    if (passed === undefined) return readBody(body, headers, isRecording, permit)
    const { copies } = passed
    return permit.reserve(copies.length)
      ? Effect.succeed({ bytes: copies, isOwned: true })
      : Effect.fail(new Errors.Overloaded())
  }

  const answer = Effect.fnUntraced(function* (
    state: RequestState.RequestState,
    incoming: Incoming,
    url: string,
    { params, query, route }: Paths.Match
  ) {
    const { headers, passed } = incoming
    const allowed = route.scopes === undefined ? anonymous : yield* authorize(state, incoming, url, route.scopes)
    if ("status" in allowed) return allowed
    state.project = allowed.project
    if (route.takesBody) incoming.onReadBody?.()
    // An answer to it is given as the body comes, and counts as a stream.
    if (route.streamsBody && !state.permit.openStream(allowed.project)) return overloaded
    const stream = route.streamsBody ? yield* BodyOnTheWay.open(incoming.body, headers) : undefined
    const collected = route.takesBody && !route.streamsBody ? yield* bodyOf(incoming, route, state.permit) : noBody
    const { bytes: body, isOwned: isBodyOwned } = collected
    if (route.isRecording && !state.permit.enqueue()) return overloaded
    const { releaseAnswer, reserveAnswer } = state.permit
    // A write answers with what was sent, or with what was stored before. It is refused before anything of it is stored.
    if (!route.isRecording && isCounted(body.length) && !reserveAnswer(body.length + maxAddedBytes)) {
      return overloaded
    }
    const arrivedAtMs = performance.now()
    const { endpoint } = route
    const handled = handleInEngine({
      requestId: state.id,
      endpoint,
      params,
      query,
      headers: headersFor(state.method, headers),
      project: allowed.project,
      scopes: allowed.scopes,
      actor: allowed.id,
      body,
      isBodyOwned,
      stream,
      passed: passed?.call,
      maxEventBytes,
      maxOtherBytes,
      isStrict,
      arrivedAtMs
    })
    // An event is committed even if its client disconnects; its permit is released after the commit.
    if (route.isRecording) {
      const recorded = Effect.uninterruptible(handled)
      if (passed === undefined) return yield* recorded
      return yield* Effect.provideService(recorded, ReserveAnswer, (bytes) =>
        Effect.sync(() => state.permit.reserve(bytes))
      )
    }
    const reserve = (bytes: number) => {
      if (bytes > 0) return !isCounted(bytes) || reserveAnswer(bytes)
      releaseAnswer()
      return true
    }
    const answered = yield* Effect.provideService(handled, ReserveAnswer, (bytes) => Effect.sync(() => reserve(bytes)))
    // What was changed is changed.
    if (state.method !== "GET" || !(yield* keys.isLate(state, arrivedAtMs))) return answered
    Answer.free(answered)
    return unauthorized
  })

  const finish = (state: RequestState.RequestState, url: string | undefined, reply: Reply.Reply): Reply.Reply => {
    if (state.isHttp) logAccess(state, reply)
    return addStandardHeaders(reply, state.id, url)
  }

  /** Finishes an answer that may be large. */
  const finishLarge = (
    state: RequestState.RequestState,
    url: string | undefined,
    answer: Answer.Answer,
    isBehind: Incoming["isBehind"]
  ) => {
    // The answer to HEAD has the length of the body, and no body.
    if (state.method === "HEAD") {
      const reply = { ...finish(state, url, answer), body: "" }
      Answer.free(answer)
      return reply
    }
    const reply = Reply.of(answer, answerTimeoutMs, state.permit, state.project, isBehind)
    const live = reply?.live
    if (live !== undefined) {
      const forget = streams.add(live)
      const unwatch = keys.watch(state, answer, live)
      live.onEnd = () => {
        forget()
        unwatch()
      }
    }
    return finish(state, url, reply ?? overloaded)
  }

  type Found = Paths.Match | Paths.Allowed | undefined

  const matchOf = (url: string | undefined, method: string): Found =>
    url === undefined ? undefined : Paths.match(method, url, servesViewer)

  const handle = (incoming: Incoming, url: string | undefined, found: Found): Handled => {
    const { headers, method, source } = incoming
    const state = RequestState.start(admission, method, incoming.principal === undefined)
    const isRecording = found !== undefined && "route" in found && found.route.isRecording
    if (isRecording && !admission.canAdmit(RequestBody.announcedBytes(headers))) {
      return finish(state, url, overloaded)
    }
    const framingError = framingErrors[AmbiguousRequest.classify(source)]
    if (framingError !== undefined) return finish(state, url, framingError)
    if (found === undefined) return finish(state, url, notFoundAt(url))
    if (!("route" in found)) return finish(state, url, methodNotAllowed(method, found))
    return answerErrors(answer(state, incoming, url!, found), state.id).pipe(
      Effect.annotateLogs("request_id", state.id),
      Effect.map((answer) => finishLarge(state, url, answer, incoming.isBehind)),
      Effect.onExit((exit) =>
        // A reply in pieces releases the permit itself.
        Exit.isSuccess(exit) && (exit.value.pieces ?? exit.value.live) !== undefined
          ? Effect.void
          : Effect.sync(state.permit.release)
      )
    )
  }

  const endStreams = () => {
    for (const stream of streams.values()) stream.cancel()
  }
  yield* Effect.addFinalizer(() => Effect.sync(endStreams))

  const urlOf = ({ url }: Incoming) => BasePath.below(base, BasePath.targetIn(url))

  return Front.of({
    endStreams,
    handle: (incoming) => {
      const url = urlOf(incoming)
      return handle(incoming, url, matchOf(url, incoming.method))
    },
    handleOwn: (incoming) => {
      const url = urlOf(incoming)
      const found = matchOf(url, incoming.method)
      return found === undefined ? undefined : handle(incoming, url, found)
    }
  })
})
