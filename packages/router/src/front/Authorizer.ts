/** Decides who sends a request and what it may do, by API keys or by a rule of the host. */
import { ApiKeys, type Errors, type Principal, ProjectId, Scope } from "@tachograph/core"
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import type { IncomingMessage } from "node:http"

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

/**
 * A rule of the host, in place of API keys. Null or undefined is answered 401, insufficient scopes 403. An exception, and a
 * grant that does not have this shape, is logged and answered 500.
 */
export type Authorize = (request: AuthorizeRequest) => Grant | null | undefined | Promise<Grant | null | undefined>

export class Authorizer extends Context.Service<
  Authorizer,
  {
    /** Undefined if nothing may be done. `credential` is the bearer token of the request; empty if it has none. */
    readonly authorize: (
      request: Omit<AuthorizeRequest, "source"> & { readonly source: object },
      credential: Redacted.Redacted
    ) => Effect.Effect<Principal | undefined, Errors.StorageUnavailable>
    /** The principal, if it is known from the credential alone and without waiting: a static or a cached key. */
    readonly cachedPrincipal: (credential: Redacted.Redacted) => Principal | undefined
  }
>()("tachograph/router/Authorizer") {
  /** By `Authorization: Bearer <API key>`. */
  static readonly layer: Layer.Layer<Authorizer, never, ApiKeys> = Layer.effect(
    Authorizer,
    Effect.map(ApiKeys, (keys) =>
      Authorizer.of({ authorize: (_request, credential) => keys.verify(credential), cachedPrincipal: keys.known })
    )
  )

  /** By a rule of the host; API keys open nothing. */
  static readonly layerRule = (rule: Authorize): Layer.Layer<Authorizer> =>
    Layer.succeed(Authorizer, {
      authorize: ({ headers, method, source, url }) =>
        Effect.promise(async () => rule({ method, url, headers, source: source as AuthorizeRequest["source"] })).pipe(
          Effect.flatMap((grant) =>
            grant === null || grant === undefined ? Effect.undefined : Effect.orDie(decodeGrant(grant))
          )
        ),
      cachedPrincipal: () => undefined
    })
}

const decodeGrant = Schema.decodeUnknownEffect(Schema.Struct({ project: ProjectId, scopes: Schema.Array(Scope) }))
