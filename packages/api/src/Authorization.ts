/** Every endpoint under `/api/v1` requires `Authorization: Bearer <API key>`. */
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { AuthorizationUnavailable, Forbidden, StorageUnavailable, Unauthorized } from "./Errors.ts"

/** Declares that an endpoint needs a key. The router checks it, in `front/`. */
export class Authorization extends HttpApiMiddleware.Service<Authorization>()("tachograph/api/Authorization", {
  requiredForClient: true,
  security: { bearer: HttpApiSecurity.bearer },
  error: [Unauthorized, Forbidden, StorageUnavailable, AuthorizationUnavailable]
}) {}
