/** The provider of OpenID Connect. It is asked when somebody signs in, and not before: the server starts without it. */
import { Lazy } from "@tachograph/core"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as OpenId from "openid-client"
import type { Options } from "./Options.ts"

type Client = typeof OpenId

/** How long an answer of the provider may take (s). */
const timeoutSeconds = 10

/** What is read of one answer of the provider, unpacked. */
const maxAnswerBytes = 2 ** 20

/** How far the provider's clock may be ahead (s). */
const maxClockSkewSeconds = 60

/** The provider does not answer, or not as one. */
export class ProviderUnavailable extends Data.TaggedError("ProviderUnavailable")<{ readonly reason: string }> {}

/** The provider has let nobody in, or what came back is not to be trusted. */
export class SignInRefused extends Data.TaggedError("SignInRefused")<{ readonly reason: string }> {}

/** What must come back unchanged. */
export interface Begun {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface Person {
  /** Who it is in the audit log: what people know them by, and in brackets what the provider does. */
  readonly name: string
  readonly groups: ReadonlyArray<string>
  readonly idToken: string | undefined
}

/** Errors of the network have no code of the protocol; an error of the provider is one of its answers, or has a status of 500 or more. */
const isOutage = (error: unknown): boolean => {
  const { cause, code, status } = error as {
    readonly code?: string
    readonly status?: number
    readonly cause?: unknown
  }
  if (typeof status === "number") return status >= 500
  if (code === "OAUTH_TIMEOUT") return true
  if (code === "OAUTH_RESPONSE_IS_NOT_CONFORM" && cause instanceof Response) return cause.status >= 500
  return error instanceof TypeError && code === undefined
}

/** What a provider may answer by OAuth 2.0 and OpenID Connect, at its page, for a token, or as user info. */
const protocolErrors = new Set([
  ...["access_denied", "invalid_request", "invalid_client", "invalid_grant", "invalid_scope", "unauthorized_client"],
  ...["unsupported_grant_type", "unsupported_response_type", "server_error", "temporarily_unavailable"],
  ...["login_required", "interaction_required", "account_selection_required", "consent_required"],
  ...["invalid_token", "insufficient_scope"]
])

/** A code that is known here, or a class: texts of the provider, or of the link back, may hold anything. */
const reasonOf = (error: unknown): string => {
  const { cause, code, error: answered, name } = error as Record<string, unknown>
  if (typeof answered === "string") return protocolErrors.has(answered) ? answered : "an unknown error"
  const outer = String(code ?? name)
  const inner = cause instanceof Error ? String((cause as { readonly code?: string }).code ?? cause.name) : outer
  return `${outer}${inner === outer ? "" : ` (${inner})`}`
}

/** The client passes errors of this class on as they are. */
const refusal = (code: string) => Object.assign(new TypeError("The answer is refused"), { code })

const failed = (error: unknown) =>
  isOutage(error)
    ? new ProviderUnavailable({ reason: reasonOf(error) })
    : new SignInRefused({ reason: reasonOf(error) })

/** The whole answer is read here, so that its size is bounded, and one that does not end is none. */
const fetchBounded: OpenId.CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit)
  if (response.body === null) return response
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.length
    // Leaving the loop ends the connection.
    if (bytes > maxAnswerBytes) throw refusal("ANSWER_TOO_LARGE")
    chunks.push(chunk)
  }
  return new Response(Buffer.concat(chunks), response)
}

/** Basic is what every provider takes, unless it lists others. */
const authentication =
  (client: Client, secret: string): OpenId.ClientAuth =>
  (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported
    const isBasic = methods === undefined || methods.includes("client_secret_basic")
    return (isBasic ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret))(server, ...rest)
  }

const discover = (client: Client, { clientId, clientSecret, issuer }: Options): Promise<OpenId.Configuration> => {
  const secret = Redacted.value(clientSecret)
  return client.discovery(issuer, clientId, undefined, authentication(client, secret), {
    timeout: timeoutSeconds,
    [client.customFetch]: fetchBounded,
    execute: [
      // The signature of a token is checked although it comes from the provider directly.
      client.enableNonRepudiationChecks,
      // A provider on this machine, for trying: the option takes no other one without TLS.
      ...(issuer.protocol === "http:" ? [client.allowInsecureRequests] : [])
    ]
  })
}

type Claims = Readonly<Record<string, unknown>>

const textsIn = (claim: unknown): ReadonlyArray<string> =>
  [claim].flat().filter((each): each is string => typeof each === "string")

/** In what names may have, and how long they may be. */
const nameOf = (claims: Claims): string => {
  const sub = String(claims["sub"])
  const [known] = ["email", "preferred_username", "name"].flatMap((claim) => textsIn(claims[claim]).filter(Boolean))
  const name = known === undefined ? sub : `${known} (${sub})`
  return Array.from(name.toWellFormed().replaceAll(/\p{Cc}/gu, "\uFFFD"))
    .slice(0, 255)
    .join("")
}

/** What the client takes, although it says not who it is, or is of a time to come. */
const check = ({ iat, sub }: OpenId.IDToken): void => {
  if (sub === "") throw refusal("OAUTH_INVALID_RESPONSE")
  if (iat > Date.now() / 1_000 + maxClockSkewSeconds) throw refusal("OAUTH_JWT_TIMESTAMP_CHECK_FAILED")
}

/** Many providers tell groups only where they are asked for what they know of a person. */
const claimsOf = async (
  client: Client,
  config: OpenId.Configuration,
  tokens: Awaited<ReturnType<Client["authorizationCodeGrant"]>>,
  wanted: string
) => {
  const claims = tokens.claims()!
  check(claims)
  if (claims[wanted] !== undefined || config.serverMetadata().userinfo_endpoint === undefined) return claims
  return { ...(await client.fetchUserInfo(config, tokens.access_token, claims.sub)), ...claims }
}

export type Provider = Effect.Success<ReturnType<typeof make>>

export const make = Effect.fnUntraced(function* (options: Options) {
  const client = yield* Lazy.ofModule(Effect.promise(() => import("openid-client")))
  /** Found again with the next sign-in, where it was not to be found. */
  const found = yield* Lazy.make(
    Effect.flatMap(client, (client) =>
      Effect.tryPromise({
        try: () => discover(client, options),
        // Whatever a provider answers that has no description cannot be used.
        catch: (error) => new ProviderUnavailable({ reason: reasonOf(error) })
      })
    )
  )
  const use = <A>(call: (client: Client, config: OpenId.Configuration) => Promise<A>) =>
    Effect.flatMap(Effect.all([client, found]), ([client, config]) =>
      Effect.tryPromise({ try: () => call(client, config), catch: failed })
    )

  return {
    /** Where a browser goes to sign in, and what must come back. `isAgain` asks for another person. */
    begin: (isAgain: boolean) =>
      use(async (client, config) => {
        const begun: Begun = {
          state: client.randomState(),
          nonce: client.randomNonce(),
          verifier: client.randomPKCECodeVerifier()
        }
        const url = client.buildAuthorizationUrl(config, {
          redirect_uri: `${options.baseUrl}/callback`,
          scope: options.scope,
          state: begun.state,
          nonce: begun.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(begun.verifier),
          code_challenge_method: "S256",
          ...(isAgain ? { prompt: "login" } : {})
        })
        return { begun, url: url.href }
      }),

    /** Who came back with this query. */
    complete: (query: string, { nonce, state, verifier }: Begun) =>
      use(async (client, config): Promise<Person> => {
        const tokens = await client.authorizationCodeGrant(config, new URL(`${options.baseUrl}/callback${query}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier
        })
        const claims = await claimsOf(client, config, tokens, options.groupsClaim)
        return { name: nameOf(claims), groups: textsIn(claims[options.groupsClaim]), idToken: tokens.id_token }
      }),

    /** Where the provider ends its own session; null if it has no such place, or cannot be asked for it. */
    end: (idToken: string | undefined) =>
      use(async (client, config) => {
        if (config.serverMetadata().end_session_endpoint === undefined) return null
        return client.buildEndSessionUrl(config, {
          post_logout_redirect_uri: `${options.baseUrl}/viewer/`,
          ...(idToken === undefined ? {} : { id_token_hint: idToken })
        }).href
      }).pipe(Effect.orElseSucceed(() => null))
  }
})
