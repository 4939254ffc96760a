/** Who is asking, and what may they do: told by API keys, or by a rule of the host's own. */
import { ApiKeys, type Errors, type Principal, ProjectId, Scope } from "@tachograph/core"
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import type { IncomingMessage } from "node:http"

/** What a host's rule is shown of a request. */
export interface AuthorizeRequest {
  readonly method: string
  /** Path and query, below `basePath`: `/api/v1/events?session=s`. */
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** What the host handed over: the request of its framework with all that it put there, or a web `Request`. */
  readonly source: IncomingMessage | Request
}

/** What a host's rule grants. */
export interface Grant {
  /** 1 to 255 characters. It comes to be with its first event. */
  readonly project: string
  readonly scopes: ReadonlyArray<"record" | "read" | "admin">
}

/**
 * A host's own rule, in place of API keys. Null or undefined is answered 401, scopes that do not suffice 403. What it
 * throws, and a grant of no valid form, is logged and answered 500.
 */
export type Authorize = (request: AuthorizeRequest) => Grant | null | undefined | Promise<Grant | null | undefined>

/** A principal that is known before any request is looked at: of whoever calls in process. */
export const KnownPrincipal = Context.Reference<Principal | undefined>("tachograph/router/KnownPrincipal", {
  defaultValue: () => undefined
})

const asked = new WeakMap<object, { readonly principal: Principal | undefined }>()

/** What was told of a request, by what carried it: who leaves it to others to answer need not have it asked again. */
export const remember = (source: object, principal: Principal | undefined): void =>
  void asked.set(source, { principal })

export const remembered = (source: object) => asked.get(source)

export class Authorizer extends Context.Service<
  Authorizer,
  {
    /** Undefined for whoever may do nothing. `credential` is what the request bears; empty where it bears none. */
    readonly authorize: (
      request: Omit<AuthorizeRequest, "source"> & { readonly source: object },
      credential: Redacted.Redacted
    ) => Effect.Effect<Principal | undefined, Errors.StorageUnavailable>
    /** Who it is, where that can be told by the credential alone and at once. */
    readonly known: (credential: Redacted.Redacted) => Principal | undefined
  }
>()("tachograph/router/Authorizer") {
  /** By `Authorization: Bearer <API key>`. */
  static readonly layer: Layer.Layer<Authorizer, never, ApiKeys> = Layer.effect(
    Authorizer,
    Effect.map(ApiKeys, (keys) =>
      Authorizer.of({ authorize: (_request, credential) => keys.verify(credential), known: keys.known })
    )
  )

  /** By a rule of the host's own; no API key opens anything. */
  static readonly layerRule = (rule: Authorize): Layer.Layer<Authorizer> =>
    Layer.succeed(Authorizer, {
      authorize: ({ headers, method, source, url }) =>
        Effect.promise(async () => rule({ method, url, headers, source: source as AuthorizeRequest["source"] })).pipe(
          Effect.flatMap((grant) =>
            grant === null || grant === undefined ? Effect.undefined : Effect.orDie(decodeGrant(grant))
          )
        ),
      known: () => undefined
    })
}

const decodeGrant = Schema.decodeUnknownEffect(Schema.Struct({ project: ProjectId, scopes: Schema.Array(Scope) }))
