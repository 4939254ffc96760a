/** What does not fit an endpoint's schemas outside its handler: path, query and headers, with the body's errors behind them. */
import { type ErrorDetail, RequestErrors, ValidationFailure } from "@tachograph/api"
import { Effect, Layer, type Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type HttpApiEndpoint, HttpApiMiddleware } from "effect/http-api"
import * as ErrorInput from "./ErrorInput.ts"
import * as RequestBody from "../front/RequestBody.ts"
import * as OutageLog from "../response/OutageLog.ts"
import * as ValidationDetail from "./ValidationDetail.ts"

type Parameters = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

const detailsOf = (schema: Schema.Top | undefined, place: ValidationDetail.ErrorLocation, values: Parameters) =>
  schema === undefined
    ? Effect.succeed<ReadonlyArray<ErrorDetail>>([])
    : ValidationDetail.decoder(schema as Schema.Decoder<unknown>)(values).pipe(
        Effect.match({
          onFailure: ({ issue }) =>
            ValidationDetail.details(issue, place, ([name]) => ErrorInput.ofString(values[String(name)])),
          onSuccess: () => []
        })
      )

const bodyDetails = Effect.fnUntraced(function* (endpoint: HttpApiEndpoint.Top) {
  const [payload] = endpoint.payload.values()
  if (payload === undefined) return []
  const request = yield* HttpServerRequest.HttpServerRequest
  return yield* RequestBody.decode(payload.schemas[0] as Schema.Decoder<unknown>)(request).pipe(
    Effect.as<ReadonlyArray<ErrorDetail>>([]),
    Effect.catchTag("validation-error", ({ detail }) => Effect.succeed(detail))
  )
})

const incoming: ReadonlySet<string> = new Set(["Params", "Query", "Headers", "Payload"])

const schemaErrors = HttpApiMiddleware.layerSchemaErrorTransform(
  RequestErrors,
  Effect.fnUntraced(
    function* (error, { endpoint }) {
      // An answer of ours that does not fit is no fault of the request's.
      if (!incoming.has(error.kind)) return yield* Effect.die(error)
      const { params } = yield* HttpRouter.RouteContext
      const query = yield* HttpServerRequest.ParsedSearchParams
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const body = yield* bodyDetails(endpoint)
      return yield* new ValidationFailure({
        detail: [
          ...(yield* detailsOf(endpoint.params, "path", params)),
          ...(yield* detailsOf(endpoint.query, "query", query)),
          ...(yield* detailsOf(endpoint.headers, "header", headers)),
          ...body
        ]
      })
    },
    // A body that cannot be taken at all goes before what is wrong with the path.
    Effect.catchTags({
      "payload-too-large": ({ _tag }) => Effect.succeed(HttpServerResponse.jsonUnsafe({ type: _tag }, { status: 413 })),
      "unsupported-content-encoding": ({ _tag }) =>
        Effect.succeed(HttpServerResponse.jsonUnsafe({ type: _tag }, { status: 415 })),
      overloaded: ({ _tag }) => Effect.succeed(HttpServerResponse.jsonUnsafe({ type: _tag }, { status: 503 }))
    })
  )
)

/** The innermost middleware, and so the one that sees a handler's own failures. */
export const layer = Layer.effect(
  RequestErrors,
  Effect.map(RequestErrors, (answer) =>
    RequestErrors.of((httpEffect, options) => answer(OutageLog.log(httpEffect), options))
  )
).pipe(Layer.provide(schemaErrors))
