import { HttpApiMiddleware } from "effect/http-api"
import { Overloaded } from "./Errors.ts"
import { ValidationError } from "./ValidationError.ts"

/**
 * Declares that every endpoint can answer a `ValidationError`, which the router makes in `validation/`, and `Overloaded`,
 * because any answer may be too large for the memory that is left.
 */
export class RequestErrors extends HttpApiMiddleware.Service<RequestErrors>()("tachograph/api/RequestErrors", {
  error: [ValidationError, Overloaded]
}) {}
