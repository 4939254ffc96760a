/** What a request whose path, method and framing are right goes through: key, scope, body and engine, in this order. */
import { type AuthorizationUnavailableError, ValidationFailure } from "@tachograph/api"
import { defaultProject, Errors, type Permit, type Principal, type Scope } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { Engine, isCounted, IsStrict, ReserveAnswer } from "../Engine.ts"
import * as Answer from "../response/Answer.ts"
import * as Authorization from "./Authorization.ts"
import { Authorizer, SignInKey } from "./Authorizer.ts"
import * as BodyOnTheWay from "./BodyOnTheWay.ts"
import type { Incoming } from "./Incoming.ts"
import type { KeyWatch } from "./KeyWatch.ts"
import type * as Paths from "./Paths.ts"
import * as Refusals from "./Refusals.ts"
import * as RequestBody from "./RequestBody.ts"
import type * as RequestState from "./RequestState.ts"

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

const unreadable = Answer.refuse(
  400,
  "bad-request",
  {},
  { message: "The body cannot be decompressed, or read to its end." }
)

const readable = <A, E>(body: Effect.Effect<A, E>, { isOtlp = false }: Paths.Match["route"]) =>
  Effect.catchIf(
    body,
    (error) => isOtlp && error instanceof ValidationFailure,
    () => Effect.succeed(unreadable)
  )

const authorizing = (authorizer: Authorizer["Service"], signInKeyOf: (typeof SignInKey)["Service"]) => {
  const principalOf = (
    state: RequestState.RequestState,
    incoming: Incoming,
    url: string,
    credentialIn: typeof Authorization.credentialIn
  ): Effect.Effect<Principal | undefined, Errors.StorageUnavailable | AuthorizationUnavailableError> => {
    if (incoming.principal !== undefined) return Effect.succeed(incoming.principal)
    const header = incoming.headers["authorization"]
    const signedIn = header === undefined ? signInKeyOf(incoming) : undefined
    const credential = (state.credential = signedIn ?? credentialIn(header))
    const cached = authorizer.cachedPrincipal(credential)
    return cached === undefined ? authorizer.authorize({ ...incoming, url }, credential) : Effect.succeed(cached)
  }

  /** The principal, where it may use the endpoint. */
  const authorize = Effect.fnUntraced(function* (
    state: RequestState.RequestState,
    incoming: Incoming,
    url: string,
    scopes: ReadonlyArray<Scope>,
    takesBasic = false
  ) {
    const credentialIn = takesBasic ? Authorization.credentialOrPasswordIn : Authorization.credentialIn
    const principal = yield* principalOf(state, incoming, url, credentialIn)
    if (principal === undefined) return Refusals.unauthorized
    return Authorization.opens(principal.scopes, scopes) ? principal : Refusals.forbidden
  })

  return authorize
}

export const make = Effect.fnUntraced(function* (keys: KeyWatch) {
  const authorize = authorizing(yield* Authorizer, yield* SignInKey)
  const { handle: handleInEngine } = yield* Engine
  const readBody = yield* RequestBody.make
  const maxEventBytes = yield* RequestBody.MaxBodyBytes
  const maxOtherBytes = yield* RequestBody.MaxOtherBodyBytes
  const maxBatchBytes = yield* RequestBody.MaxBatchBytes
  const maxBatchLines = yield* RequestBody.MaxBatchLines
  const isStrict = yield* IsStrict

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
    const allowed =
      route.scopes === undefined ? anonymous : yield* authorize(state, incoming, url, route.scopes, route.takesBasic)
    if ("status" in allowed) return allowed
    state.project = allowed.project
    if (route.takesBody) incoming.onReadBody?.()
    // An answer to it is given as the body comes, and counts as a stream.
    if (route.streamsBody && !state.permit.openStream(allowed.project)) return Refusals.overloaded
    const maxStreamBytes = route.isBatch ? maxBatchBytes : Infinity
    const stream = route.streamsBody ? yield* BodyOnTheWay.open(incoming.body, headers, maxStreamBytes) : undefined
    const collected =
      route.takesBody && !route.streamsBody ? yield* readable(bodyOf(incoming, route, state.permit), route) : noBody
    if ("status" in collected) return collected
    const { bytes: body, isOwned: isBodyOwned } = collected
    if (route.isRecording && !state.permit.enqueue()) return Refusals.overloaded
    const { releaseAnswer, reserveAnswer } = state.permit
    // A write answers with what was sent, or with what was stored before. It is refused before anything of it is stored.
    if (!route.isRecording && isCounted(body.length) && !reserveAnswer(body.length + maxAddedBytes)) {
      return Refusals.overloaded
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
      maxBatchBytes,
      maxBatchLines,
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
    if ((state.method !== "GET" && state.method !== "HEAD") || !(yield* keys.isLate(state, arrivedAtMs)))
      return answered
    Answer.free(answered)
    return Refusals.unauthorized
  })

  return answer
})
