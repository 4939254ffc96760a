/** Decides who sends a request and what it may do, by API keys or by a rule of the host. */
import { AuthorizationUnavailableError } from "@tachograph/api"
import { ApiKeys, type Errors, type Principal, ProjectId, Scope } from "@tachograph/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { IncomingMessage } from "node:http"
import { isCrossSite } from "./CrossSite.ts"

/** The request as a host's rule sees it. */
export interface AuthorizeRequest {
  readonly method: string
  /** Path and query, below `basePath`: `/api/v1/events?session=s`. */
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The object that the host passed to the mount: its framework's request with all that it added, or a web `Request`. */
  readonly source: IncomingMessage | Request
}

/** What a host's rule grants. */
export interface Grant {
  /** 1 to 255 characters. A project is created with its first event. */
  readonly project: string
  readonly scopes: ReadonlyArray<"record" | "read" | "admin">
}

type Granted = Grant | null | undefined | false

/**
 * A rule of the host, in place of API keys. Null, undefined and any other falsy value is answered 401, insufficient scopes 403.
 * An exception, and anything else that is no grant, is a mistake of the rule: it is logged and answered 500 `internal`. A rule
 * that does not answer within 10 s is logged and answered 503 `authorization-unavailable`. It is not asked about requests that a
 * page of another origin made a browser send, without `Authorization`: these are answered 401.
 */
export type Authorize = (request: AuthorizeRequest) => Granted | Promise<Granted>

/** How long a rule may take (ms). */
export const AuthorizeTimeoutMs = Context.Reference<number>("tachograph/router/AuthorizeTimeoutMs", {
  defaultValue: () => 10_000
})

/**
 * Finds the key that stands for a person who has signed in, in a request without `Authorization`. It must refuse what a page of another
 * origin may have sent (`mayBeCrossSite`). Nobody signs in by default.
 */
export const SignInKey = Context.Reference<
  (request: Pick<AuthorizeRequest, "method" | "headers"> & { readonly source: object }) => Redacted.Redacted | undefined
>("tachograph/router/SignInKey", { defaultValue: () => () => undefined })

export class Authorizer extends Context.Service<
  Authorizer,
  {
    /** Undefined if nothing may be done. `credential` is the bearer token of the request; empty if it has none. */
    readonly authorize: (
      request: Omit<AuthorizeRequest, "source"> & { readonly source: object },
      credential: Redacted.Redacted
    ) => Effect.Effect<Principal | undefined, Errors.StorageUnavailable | AuthorizationUnavailableError>
    /** The principal, if it is known from the credential alone and without waiting: a static or a cached key. */
    readonly cachedPrincipal: (credential: Redacted.Redacted) => Principal | undefined
    /**
     * Whether a key that opened something is revoked or expired by now. False while the storage cannot say it, and always for a rule of
     * the host, which is asked once about each request.
     */
    readonly isOver: (credential: Redacted.Redacted) => Effect.Effect<boolean>
  }
>()("tachograph/router/Authorizer") {
  /** By `Authorization: Bearer <API key>`. */
  static readonly layer: Layer.Layer<Authorizer, never, ApiKeys> = Layer.effect(
    Authorizer,
    Effect.map(ApiKeys, (keys) =>
      Authorizer.of({
        authorize: (_request, credential) => keys.verify(credential),
        cachedPrincipal: keys.known,
        isOver: (credential) =>
          Effect.match(keys.verify(credential), {
            onSuccess: (principal) => principal === undefined,
            onFailure: () => false
          })
      })
    )
  )

  /** By a rule of the host; API keys open nothing, and nothing is granted to pages of other origins without `Authorization`. */
  static readonly layerRule = (rule: Authorize): Layer.Layer<Authorizer> =>
    Layer.effect(
      Authorizer,
      Effect.map(AuthorizeTimeoutMs, (timeoutMs) =>
        Authorizer.of({
          authorize: ({ headers, method, source, url }) => {
            if (isCrossSite({ headers, source })) return Effect.undefined
            return Effect.promise(async () =>
              rule({ method, url, headers, source: source as AuthorizeRequest["source"] })
            ).pipe(
              Effect.timeoutOrElse({ duration: timeoutMs, orElse: () => unanswered(timeoutMs) }),
              Effect.flatMap((granted) =>
                granted
                  ? Effect.map(Effect.orDie(decodeGrant(granted)), (grant) => ({ ...grant, id: "authorize" }))
                  : Effect.undefined
              )
            )
          },
          cachedPrincipal: () => undefined,
          isOver: () => Effect.succeed(false)
        })
      )
    )
}

const unanswered = (timeoutMs: number) =>
  Effect.andThen(
    Effect.logError(`authorize did not answer within ${timeoutMs} ms`),
    Effect.fail(new AuthorizationUnavailableError())
  )

const decodeGrant = Schema.decodeUnknownEffect(Schema.Struct({ project: ProjectId, scopes: Schema.Array(Scope) }))
