/** Every endpoint of the interface takes `Authorization: Bearer <API key>`. */
import type { Scope } from "@tachograph/core/domain/ApiKey"
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { Forbidden, StorageUnavailable, Unauthorized } from "./Errors.ts"

/** Annotates an endpoint with the scopes of which a key needs one. `admin` opens everything. */
export const AllowedScopes = Context.Reference<ReadonlyArray<Scope>>("tachograph/api/AllowedScopes", {
  defaultValue: () => ["admin"]
})

/** The scopes of the nine endpoints of the interface that write, of those that read, and of what came beside them. */
export const writing = ["record"] as const satisfies ReadonlyArray<Scope>
export const reading = ["record", "read"] as const satisfies ReadonlyArray<Scope>
export const readingOnly = ["read"] as const satisfies ReadonlyArray<Scope>
/** Of what takes away. */
export const administering = ["admin"] as const satisfies ReadonlyArray<Scope>

/** Checks the key before anything else of the request is looked at, and runs the rest in the key's project. */
export class Authorization extends HttpApiMiddleware.Service<Authorization>()("tachograph/api/Authorization", {
  requiredForClient: true,
  security: { bearer: HttpApiSecurity.bearer },
  error: [Unauthorized, Forbidden, StorageUnavailable]
}) {}
