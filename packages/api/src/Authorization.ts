/** Every endpoint under `/api/v1` requires `Authorization: Bearer <API key>`. */
import { type Scope, scopes } from "@tachograph/core/domain/ApiKey"
import * as Context from "effect/Context"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { AuthorizationUnavailable, Forbidden, StorageUnavailable, Unauthorized } from "./Errors.ts"

/** Annotates an endpoint with its scopes. A key needs one of them, or `admin`. */
export const AllowedScopes = Context.Reference<ReadonlyArray<Scope>>("tachograph/api/AllowedScopes", {
  defaultValue: () => ["admin"]
})

/**
 * The scopes of endpoints that record, that read what recorders need, that read events and usage, that erase, and that any key
 * opens.
 */
export const writing = ["record"] as const satisfies ReadonlyArray<Scope>
export const reading = ["record", "read"] as const satisfies ReadonlyArray<Scope>
export const readingOnly = ["read"] as const satisfies ReadonlyArray<Scope>
export const administering = ["admin"] as const satisfies ReadonlyArray<Scope>
export const anyScope = scopes

/** Declares that an endpoint needs a key. The router checks it, in `front/`. */
export class Authorization extends HttpApiMiddleware.Service<Authorization>()("tachograph/api/Authorization", {
  requiredForClient: true,
  security: { bearer: HttpApiSecurity.bearer },
  error: [Unauthorized, Forbidden, StorageUnavailable, AuthorizationUnavailable]
}) {}
