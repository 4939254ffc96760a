/** Opens a request's project by its key, before anything else of the request is read. */
import { AllowedScopes, Authorization, ForbiddenError, UnauthorizedError } from "@tachograph/api"
import { ApiKeys, CurrentProject, type Scope } from "@tachograph/core"
import { Context, Effect, Layer } from "effect"
import * as StorageFailures from "./StorageFailures.ts"

/** Whether a key with these scopes opens what one of those opens. */
export const opens = (held: ReadonlyArray<Scope>, allowed: ReadonlyArray<Scope>): boolean =>
  held.includes("admin") || allowed.some((scope) => held.includes(scope))

export const layer: Layer.Layer<Authorization, never, ApiKeys> = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    return Authorization.of({
      bearer: Effect.fnUntraced(function* (httpEffect, { credential, endpoint }) {
        const principal = yield* keys.verify(credential)
        if (principal === undefined) return yield* new UnauthorizedError()
        if (!opens(principal.scopes, Context.get(endpoint.annotations, AllowedScopes))) {
          return yield* new ForbiddenError()
        }
        return yield* Effect.provideService(httpEffect, CurrentProject, principal.project)
      }, StorageFailures.log)
    })
  })
)
