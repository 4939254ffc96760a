/** Decides whether a request may pass, and where to: framing, path, key and scope, in this order. */
import { type AuthorizationUnavailableError } from "@tachograph/api"
import { defaultProject, type Errors, type Principal } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"
import * as AmbiguousRequest from "../front/AmbiguousRequest.ts"
import * as Authorization from "../front/Authorization.ts"
import type { Authorizer } from "../front/Authorizer.ts"
import type { Answer } from "../response/Answer.ts"
import * as ProxyErrors from "./ProxyErrors.ts"
import * as ProxyPath from "./ProxyPath.ts"
import type { Upstream, Upstreams } from "./Upstreams.ts"

export interface Visitor {
  readonly method: string
  /** Path and query below the base path. */
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The object that the mount received, which a host's rule sees. */
  readonly source: object
  /** `1.0` or `1.1`; undefined where the mount does not know it. */
  readonly httpVersion: string | undefined
  /** The address of the other end of the connection; undefined where the mount does not know it. */
  readonly remoteAddress: string | undefined
}

/** Where a request goes. */
export interface Destination {
  readonly upstream: Upstream
  readonly rest: string
}

/** Where a request goes, or why it does not. */
export const destinationOf = (
  { source }: Visitor,
  { name, rest }: ProxyPath.ProxyPath,
  upstreams: Upstreams
): Destination | Answer => {
  if (AmbiguousRequest.classify(source) !== "clear") return ProxyErrors.ambiguous
  const upstream = upstreams.get(name)
  if (upstream === undefined) return ProxyErrors.upstreamNotFound(name, Array.from(upstreams.keys()))
  if (ProxyPath.isHostile(rest)) return ProxyErrors.badPath
  return { upstream, rest }
}

/** Whether a request asks for a WebSocket. Other upgrades, such as h2c, are offers, which a server may ignore. */
export const asksForSocket = ({ headers }: Pick<Visitor, "headers">): boolean =>
  /\bwebsocket\b/i.test(headers["upgrade"] ?? "")

const loopbackAddress = /^(?:127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/
const loopbackHost = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i
const loopbackOrigin = /^https?:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i

/** Headers that reverse proxies, load balancers and content delivery networks add. Programs send `cf-aig-` ones to a gateway. */
const ofReverseProxy =
  /^via$|forwarded|(?:^|[-_])(?:real|client|remote|connecting|user|proxyuser)[-_]?ip(?:v6)?$|^(?:cdn-|cf-(?!aig-)|x-(?:original|envoy|azure|appengine)-)/

/**
 * Those of single products, by their whole names or all that begin so. SDKs and tracers send others of the same vendors themselves, such as
 * `X-Goog-Api-Key`, `X-Amzn-Trace-Id` and `Ngrok-Skip-Browser-Warning`.
 */
const ofProduct =
  /^(?:tailscale-|x-goog-(?:iap|authenticated-user)-|x-arr-|x-amz-cf-|x-amzn-(?:oidc|mtls|tls)-|x-vercel-(?:id$|ip-)|ngrok-(?:trace-id$|auth-)|x-request-start$|x-scheme$)/

/** What a request from elsewhere has, and how a refusal says it. None repeats what a client sent. */
const marksOfElsewhere: ReadonlyArray<readonly [has: (visitor: Visitor) => boolean, refusal: Answer]> = [
  [
    ({ remoteAddress = "" }) => !loopbackAddress.test(remoteAddress),
    ProxyErrors.notLocal("the request is not known to come from this machine")
  ],
  [
    // Plain `proxy_pass` of nginx speaks 1.0, adds no header, and makes `Host` the address of this server.
    ({ httpVersion }) => httpVersion === "1.0",
    ProxyErrors.notLocal("the request is of HTTP/1.0, as plain reverse proxies send it")
  ],
  [
    ({ headers }) => Object.keys(headers).some((name) => ofReverseProxy.test(name) || ofProduct.test(name)),
    ProxyErrors.notLocal("a header of the request says that it came through another proxy")
  ],
  [
    ({ headers }) => !loopbackHost.test(headers["host"] ?? ""),
    ProxyErrors.notLocal("its Host is no address of this machine")
  ],
  [
    ({ headers }) => !loopbackOrigin.test(headers["origin"] ?? "http://localhost"),
    ProxyErrors.notLocal("its Origin is a page of another site")
  ],
  [
    ({ headers }) => headers["sec-fetch-site"] === "cross-site",
    ProxyErrors.notLocal("its Sec-Fetch-Site says that it comes from a page of another site")
  ]
]

/**
 * Whether a program on this machine sends the request for itself: not a reverse proxy for somebody else, and not a browser for
 * the page of another site. A reverse proxy that says nothing of itself, and speaks HTTP/1.1, cannot be told from a program.
 */
export const isLocal = (visitor: Visitor): boolean => marksOfElsewhere.every(([has]) => !has(visitor))

/** How many keys are remembered. */
const maxRemembered = 1_000

/** How long looking a key up may delay the call of one that was valid before (ms): a storage that hangs answers much later. */
const lookupPatienceMs = 250

const local: Principal = { project: defaultProject, scopes: ["record"], id: "this machine" }

type Unavailable = Errors.StorageUnavailable | AuthorizationUnavailableError

type Judged = Principal | Answer

const judged = (principal: Principal | undefined, refusal: Answer): Judged => {
  if (principal === undefined) return refusal
  return Authorization.opens(principal.scopes, ["record"]) ? principal : ProxyErrors.forbidden
}

/**
 * The principal of a request, or why it has none: at once, where the key is known. `isOpen` waives the key of local requests.
 */
export const make = (
  authorizer: Pick<Authorizer["Service"], "authorize" | "cachedPrincipal">,
  isOpen: boolean
): ((visitor: Visitor) => Judged | Effect.Effect<Judged, Unavailable>) => {
  /** The principals of keys that were valid, by hash, oldest first: an outage of the storage must not end an application's calls. */
  const remembered = new Map<string, Principal>()

  /** The hashes of keys whose lookup takes longer than a call waits for it. */
  const late = new Set<string>()

  /** A host's rule may answer another request with the same key otherwise. Then the key alone says nothing, and is not cached. */
  const remember = (hash: string, key: string, principal: Principal | undefined) => {
    remembered.delete(hash)
    if (principal === undefined || authorizer.cachedPrincipal(Redacted.make(key)) === undefined) return
    remembered.set(hash, principal)
    if (remembered.size > maxRemembered) remembered.delete(remembered.keys().next().value!)
  }

  const lookUp = (visitor: Visitor, key: string) => {
    const hash = createHash("sha256").update(key).digest("base64")
    const before = remembered.get(hash)
    const lookedUp = authorizer.authorize(visitor, Redacted.make(key)).pipe(
      Effect.tap((principal) => Effect.sync(() => remember(hash, key, principal))),
      Effect.catchTag("storage-unavailable", (error) =>
        before === undefined ? Effect.fail(error) : Effect.succeed(before)
      )
    )
    if (before === undefined) return lookedUp
    return late.has(hash) ? Effect.succeed(before) : orLater(lookedUp, hash, before)
  }

  /** What the lookup says, unless that takes too long. It goes on for the requests that come next. */
  const orLater = Effect.fnUntraced(function* (
    lookedUp: ReturnType<Authorizer["Service"]["authorize"]>,
    hash: string,
    before: Principal
  ) {
    const fiber = yield* Effect.forkDetach(lookedUp)
    const answer = yield* Effect.timeoutOption(Fiber.join(fiber), lookupPatienceMs)
    if (Option.isSome(answer)) return answer.value
    late.add(hash)
    fiber.addObserver(() => late.delete(hash))
    return before
  })

  const refusalOf = (visitor: Visitor, key: string): Answer => {
    if (key !== "") return ProxyErrors.unauthorized
    const mark = isOpen ? marksOfElsewhere.find(([has]) => has(visitor)) : undefined
    return mark?.[1] ?? ProxyErrors.keyMissing
  }

  return (visitor) => {
    const key = visitor.headers["x-tachograph-key"] ?? ""
    if (key === "" && isOpen && isLocal(visitor)) return local
    const judge = (principal: Principal | undefined) => judged(principal, refusalOf(visitor, key))
    const cached = authorizer.cachedPrincipal(Redacted.make(key))
    return cached === undefined ? Effect.map(lookUp(visitor, key), judge) : judge(cached)
  }
}
