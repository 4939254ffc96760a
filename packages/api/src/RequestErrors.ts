import { HttpApiMiddleware } from "effect/http-api"
import { ValidationError } from "./ValidationError.ts"

/** Answers whatever does not fit an endpoint's schemas, path and query included, in the one form of validation errors. */
export class RequestErrors extends HttpApiMiddleware.Service<RequestErrors>()("tachograph/api/RequestErrors", {
  error: ValidationError
}) {}
