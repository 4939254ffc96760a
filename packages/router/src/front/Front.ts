/**
 * The one way in. Every mount hands its requests to `handle`, which judges each of these once and in this order: admission (of
 * requests whose path records events), framing, path and method, key, scope, body. The engine handles what passes.
 */
import type { ApiKeys, Recorder, Storage } from "@tachograph/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as BasePath from "../BasePath.ts"
import { Engine, ServesLangfuse, ServesViewer } from "../Engine.ts"
import * as LocalEngine from "../engine/LocalEngine.ts"
import * as Answer from "../response/Answer.ts"
import * as ErrorAnswer from "../response/ErrorAnswer.ts"
import * as AmbiguousRequest from "./AmbiguousRequest.ts"
import * as Answering from "./Answering.ts"
import { Authorizer } from "./Authorizer.ts"
import type { Incoming } from "./Incoming.ts"
import * as KeyWatch from "./KeyWatch.ts"
import * as Paths from "./Paths.ts"
import * as Refusals from "./Refusals.ts"
import type * as Reply from "./Reply.ts"
import * as RequestBody from "./RequestBody.ts"
import * as RequestState from "./RequestState.ts"
import * as Sending from "./Sending.ts"

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
  "duplicate-authorization": Answer.closing(Refusals.unauthorized)
}

const methodNotAllowed = (method: string, allowed: Paths.Allowed): Answer.Answer => {
  const allow = { allow: allowed.join(", ") }
  return method === "OPTIONS" ? Answer.empty(allow) : Answer.refuse(405, "method-not-allowed", allow)
}

const make = Effect.gen(function* () {
  const base = yield* BasePath.BasePath
  const served = { viewer: yield* ServesViewer, langfuse: yield* ServesLangfuse }
  const { admission } = yield* Engine
  const answerErrors = ErrorAnswer.make()
  const keys = yield* KeyWatch.make
  const answer = yield* Answering.make(keys)
  const { endStreams, finish, finishLarge } = yield* Sending.make(keys)

  type Found = Paths.Match | Paths.Allowed | undefined

  const matchOf = (url: string | undefined, method: string): Found =>
    url === undefined ? undefined : Paths.match(method, url, served)

  const handle = (incoming: Incoming, url: string | undefined, found: Found): Handled => {
    const { headers, method, source } = incoming
    const state = RequestState.start(admission, method, incoming.principal === undefined)
    const isRecording = found !== undefined && "route" in found && found.route.isRecording
    if (isRecording && !admission.canAdmit(RequestBody.announcedBytes(headers))) {
      return finish(state, url, Refusals.overloaded)
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
