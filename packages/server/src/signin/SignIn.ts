/** `/login`, `/callback` and `/logout`, in front of a handler. The router knows nothing of them but the key in the cookie. */
import { ApiKeys, CurrentActor, type Errors } from "@tachograph/core"
import { mayBeCrossSite } from "@tachograph/router"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Answers from "./Answers.ts"
import * as Cookies from "./Cookies.ts"
import { grantOf, type Options, pathOf } from "./Options.ts"
import * as Provider from "./Provider.ts"
import * as Seal from "./Seal.ts"
import * as Session from "./Session.ts"

/** How long a person may take at the provider (ms). */
const maxLoginMs = 10 * 60_000

/** Browsers keep no cookie above 4 KiB: without its token the provider asks the person whether they leave. */
const maxTokenLength = 3_800

type Handler = (request: IncomingMessage, response: ServerResponse) => void
type Step = (
  request: IncomingMessage,
  response: ServerResponse
) => Effect.Effect<void, Provider.ProviderUnavailable | Provider.SignInRefused | Errors.StorageUnavailable>

interface Parts {
  readonly options: Options
  readonly seal: Seal.Seal
  readonly provider: Provider.Provider
  readonly keys: ApiKeys["Service"]
}

const headersOf = ({ headers }: IncomingMessage) => headers as Readonly<Record<string, string | undefined>>

interface Begun extends Provider.Begun {
  readonly until: number
  /** The id of the sign-in that this browser had. It is `Strict`: a browser that another site leads back does not send it. */
  readonly replaces: string | undefined
}

const login = ({ provider, seal }: Parts): Step =>
  Effect.fnUntraced(function* (request, response) {
    const { begun, url } = yield* provider.begin(request.url?.endsWith("?again") === true)
    const until = (yield* Clock.currentTimeMillis) + maxLoginMs
    const replaces = Session.read(seal, headersOf(request))?.id
    const sealed = seal.seal("login", JSON.stringify({ ...begun, until, replaces } satisfies Begun))
    response.setHeader("set-cookie", Cookies.set(Cookies.login, sealed, maxLoginMs))
    Answers.redirect(response, url)
  })

/** What this browser began, if that is not too long ago. */
const begunIn = Effect.fnUntraced(function* (request: IncomingMessage, seal: Seal.Seal) {
  const sealed = Cookies.valueIn(headersOf(request), Cookies.login)
  const opened = sealed === undefined ? undefined : seal.open("login", sealed)
  const begun = opened === undefined ? undefined : (JSON.parse(opened) as Begun)
  return begun === undefined || begun.until <= (yield* Clock.currentTimeMillis) ? undefined : begun
})

const idTokenOf = (options: Options) => Cookies.idToken(pathOf(options, "/logout"))

const callback = ({ keys, options, provider, seal }: Parts): Step =>
  Effect.fnUntraced(function* (request, response) {
    // It is spent, whatever comes of it.
    const spent = Cookies.clear(Cookies.login)
    response.setHeader("set-cookie", spent)
    const begun = yield* begunIn(request, seal)
    if (begun === undefined) return Answers.notBegun(response, options)
    const person = yield* provider.complete(/\?.*$/s.exec(request.url!)?.[0] ?? "", begun)
    const grant = grantOf(options.grants, person.groups)
    if (grant === undefined) return Answers.noGroup(response, options, person.name)
    const expiresAt = DateTime.add(yield* DateTime.now, { milliseconds: options.lifetimeMs })
    // The browser is about to lose the cookie of the sign-in before this one.
    const replaced = new Set([begun.replaces, Session.read(seal, headersOf(request))?.id])
    for (const id of replaced) {
      if (id !== undefined) yield* keys.revoke(id).pipe(Effect.provideService(CurrentActor, person.name))
    }
    const [key, { id }] = yield* keys
      .issue({ ...grant, name: person.name, expiresAt, isSignIn: true })
      .pipe(Effect.provideService(CurrentActor, person.name))
    const { idToken = "" } = person
    const fits = idToken !== "" && idToken.length < maxTokenLength
    response.setHeader("set-cookie", [
      spent,
      Session.cookieOf(seal, { id, key }, options.lifetimeMs),
      fits ? Cookies.set(idTokenOf(options), idToken, options.lifetimeMs) : Cookies.clear(idTokenOf(options))
    ])
    Answers.redirect(response, pathOf(options, "/viewer/"))
  })

const logout = ({ keys, options, provider, seal }: Parts): Step =>
  Effect.fnUntraced(function* (request, response) {
    const headers = headersOf(request)
    // The header of a key does not help: the cookie is what ends.
    if (mayBeCrossSite({ method: "POST", headers: { ...headers, authorization: undefined }, source: request })) {
      return Answers.json(response, 403, { type: "forbidden" })
    }
    const session = Session.read(seal, headers)
    if (session !== undefined) {
      const who = yield* keys.verify(session.key)
      yield* keys.revoke(session.id).pipe(Effect.provideService(CurrentActor, who?.id ?? session.id))
    }
    const location = session === undefined ? null : yield* provider.end(Cookies.valueIn(headers, idTokenOf(options)))
    response.setHeader("set-cookie", [Cookies.clear(Cookies.session), Cookies.clear(idTokenOf(options))])
    Answers.json(response, 200, { location })
  })

/** Answers the three paths, and hands everything else to the handler. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const provider = yield* Provider.make(options)
  const parts: Parts = { options, seal: Seal.make(options.clientSecret), provider, keys: yield* ApiKeys }
  const steps = new Map<string, readonly [method: string, step: Step]>([
    ["/login", ["GET", login(parts)]],
    ["/callback", ["GET", callback(parts)]],
    ["/logout", ["POST", logout(parts)]]
  ])
  const run = Effect.runForkWith(yield* Effect.context<never>())

  const answer = (step: Step, request: IncomingMessage, response: ServerResponse) =>
    step(request, response).pipe(
      Effect.catch((error) => Answers.failure(response, options, error)),
      Effect.catchCause((cause) => Answers.defect(response, cause))
    )

  return (handler: Handler): Handler =>
    (request, response) => {
      const [method, step] = steps.get(request.url!.split("?", 1)[0]!) ?? []
      if (step === undefined) return handler(request, response)
      if (request.method === method) return void run(answer(step, request, response))
      Answers.json(response, 405, { type: "method-not-allowed" }, { allow: method! })
    }
})
