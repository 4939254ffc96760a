/**
 * The plain case of Create Event, which nearly every request is: a key that opens, a JSON body, an event that is kept. It
 * is answered here, by the same key check, decoding and recorder, without what the contract's machinery costs.
 *
 * Whatever is not plain is left to the route, and answered there; what the recorder refuses is refused here in the same
 * words. So nothing is decided otherwise than there.
 */
import { Events, TachographApi, writing } from "@tachograph/api"
import { CurrentProject, type Place, type Principal, type ProjectId, Recorder } from "@tachograph/core"
import { Effect, Option, Redacted } from "effect"
import * as Authorization from "../front/Authorization.ts"
import { Authorizer, remember, remembered } from "../front/Authorizer.ts"
import * as EventDecoder from "./EventDecoder.ts"
import { receiptOf } from "../handlers/Events.ts"
import * as RequestState from "../front/RequestState.ts"
import * as RequestBody from "../front/RequestBody.ts"
import * as OutageLog from "../response/OutageLog.ts"
import * as LoopBudget from "./LoopBudget.ts"

const { createEvent } = TachographApi.groups.events.endpoints

/** What carries a request, as far as the plain case looks at it. */
export interface Carrier {
  readonly method: string
  /** Below the base path. */
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly source: object
  /** Read once at the most, and not before it is known that there is room. */
  readonly body: Effect.Effect<Uint8Array, RequestBody.Unread>
}

/** In JSON. */
export interface Answer {
  readonly status: number
  readonly text: string
  /** The error's `type`, where it is one. */
  readonly refusal?: string
  readonly isReplay?: boolean
}

const scheme = "Bearer "

/** The credential of a header as nearly everybody writes it; empty where there is none. */
const credentialIn = (header = ""): Redacted.Redacted =>
  Redacted.make(header.startsWith(scheme) && header[scheme.length] !== " " ? header.slice(scheme.length) : "")

/** Of what the recorder may refuse. */
const statuses: Readonly<Record<string, number>> = {
  "fingerprint-not-found": 404,
  "session-id-empty": 422,
  "idempotency-key-reused": 422,
  overloaded: 503,
  "storage-unavailable": 503
}

/** A body that takes long to decode, in bytes. */
const large = 32 * 1024

export const refusal = (status: number, type: string, more?: object): Answer => ({
  status,
  text: JSON.stringify({ type, ...more }),
  refusal: type
})

const overloaded = refusal(503, "overloaded")

/** What the recorder has refused is not asked for again. */
const refusalOf = ({ _tag: type }: { readonly _tag: string }): Effect.Effect<Answer | undefined> => {
  const status = statuses[type]
  return Effect.succeed(status === undefined ? undefined : refusal(status, type))
}

/** Whether it can be the plain case at all. What is compressed is for the route, which reads it as it comes. */
export const isPlain = (method: string | undefined, url: string, headers: Carrier["headers"]): boolean =>
  method === createEvent.method && url === createEvent.path && headers["content-encoding"] === undefined

const mayRecord = (principal: Principal | undefined): principal is Principal =>
  principal !== undefined && Authorization.opens(principal.scopes, writing)

interface EventLane {
  /** Answers what `isPlain`; undefined where it turns out to be for the route, which knows then who asks. */
  readonly answer: (request: Carrier) => Effect.Effect<Answer | undefined, { readonly _tag: string }>
  /**
   * Refuses at once what `isPlain` where there is no room for it. Undefined where there is room, and where only the storage
   * knows who asks. The more is asked of a server, the more of its time goes into refusing.
   */
  readonly refuse: (request: Pick<Carrier, "headers">) => Answer | undefined
}

export const make = Effect.gen(function* () {
  const authorizer = yield* Authorizer
  const recorder = yield* Recorder
  const maxBytes = yield* RequestBody.maxBytes

  const record = Effect.fnUntraced(function* (
    { headers }: Carrier,
    bytes: Uint8Array,
    project: ProjectId,
    place: Place
  ) {
    if (!RequestBody.isJson(headers["content-type"])) return undefined
    const cameAt = performance.now()
    const decode = () => EventDecoder.decodePlain(RequestBody.asBuffer(bytes), project, recorder.knownPrefixesOf)
    const isLarge = bytes.length >= large
    const event = isLarge ? yield* LoopBudget.runInSlice(() => (place.wouldTimeOut() ? "late" : decode())) : decode()
    if (event === "late") return overloaded
    if (event === undefined) return undefined
    const text = headers[Events.idempotencyKeyHeader]
    const key =
      text === undefined ? undefined : Option.getOrUndefined(yield* Effect.option(EventDecoder.decodeKey(text)))
    if (text !== undefined && key === undefined) return undefined
    const keyed = EventDecoder.withKey({ ...event, arrivedAtMs: cameAt }, key, bytes)
    const written = yield* Effect.provideService(recorder.createEvent(keyed), CurrentProject, project)
    return { status: 200, text: receiptOf(written), isReplay: written.isReplay } satisfies Answer
  })

  const admit = Effect.fnUntraced(function* (request: Carrier, project: ProjectId) {
    const announced = RequestBody.announcedIn(request.headers)
    if (announced > maxBytes) return undefined
    const place = RequestState.enter(recorder.admission, request.source)
    if (!place.canAdmit(announced)) return overloaded
    const bytes = yield* request.body
    // Many may have come in meanwhile.
    if (!place.enqueue()) return overloaded
    return yield* record(request, bytes, project, place)
  })

  const answer = Effect.fnUntraced(
    function* (request: Carrier): Effect.fn.Return<Answer | undefined, { readonly _tag: string }> {
      // It was here before, over another way, and left to the route.
      if (remembered(request.source) !== undefined) return undefined
      const credential = credentialIn(request.headers["authorization"])
      const principal = authorizer.known(credential) ?? (yield* authorizer.authorize(request, credential))
      const answer = mayRecord(principal) ? yield* admit(request, principal.project) : undefined
      if (answer === undefined) remember(request.source, principal)
      return answer
    },
    OutageLog.log,
    Effect.catch(refusalOf)
  )

  const refuse: EventLane["refuse"] = ({ headers }) => {
    const announced = RequestBody.announcedIn(headers)
    if (announced > maxBytes || recorder.admission.canAdmit(announced)) return undefined
    return mayRecord(authorizer.known(credentialIn(headers["authorization"]))) ? overloaded : undefined
  }

  return { answer, refuse } satisfies EventLane
})
