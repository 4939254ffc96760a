import { HttpApiMiddleware } from "effect/http-api"
import { ValidationError } from "./ValidationError.ts"

/** Turns every mismatch between a request (path, query, headers, body) and its schemas into a `ValidationError`. */
export class RequestErrors extends HttpApiMiddleware.Service<RequestErrors>()("tachograph/api/RequestErrors", {
  error: ValidationError
}) {}
