/** Opens a request's project to whoever may, before anything else of the request is read. */
import { AllowedScopes, Authorization, ForbiddenError, UnauthorizedError } from "@tachograph/api"
import { CurrentProject, type Scope } from "@tachograph/core"
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { Authorizer, KnownPrincipal, remembered } from "./Authorizer.ts"
import * as OutageLog from "../response/OutageLog.ts"

/** Whether whoever holds these scopes may do what one of those opens. */
export const opens = (held: ReadonlyArray<Scope>, allowed: ReadonlyArray<Scope>): boolean =>
  held.includes("admin") || allowed.some((scope) => held.includes(scope))

export const layer: Layer.Layer<Authorization, never, Authorizer> = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const authorizer = yield* Authorizer
    return Authorization.of({
      bearer: Effect.fnUntraced(function* (httpEffect, { credential, endpoint }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { principal } = remembered(request.source) ?? {
          principal: (yield* KnownPrincipal) ?? (yield* authorizer.authorize(request, credential))
        }
        if (principal === undefined) return yield* new UnauthorizedError()
        if (!opens(principal.scopes, Context.get(endpoint.annotations, AllowedScopes))) {
          return yield* new ForbiddenError()
        }
        return yield* Effect.provideService(httpEffect, CurrentProject, principal.project)
      }, OutageLog.log)
    })
  })
)
