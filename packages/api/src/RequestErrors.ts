import { HttpApiMiddleware } from "effect/http-api"
import { ValidationError } from "./ValidationError.ts"

/** Declares that every endpoint can answer a `ValidationError`. The router makes it, in `validation/`. */
export class RequestErrors extends HttpApiMiddleware.Service<RequestErrors>()("tachograph/api/RequestErrors", {
  error: ValidationError
}) {}
