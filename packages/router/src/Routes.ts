/** The routes, for whoever composes an Effect `HttpRouter` of their own. */
import { TachographApi } from "@tachograph/api"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder, HttpApiScalar, OpenApi } from "effect/http-api"
import * as Authorization from "./front/Authorization.ts"
import { Authorizer } from "./front/Authorizer.ts"
import { BasePath } from "./front/BasePath.ts"
import * as Edge from "./front/Edge.ts"
import * as Agents from "./handlers/Agents.ts"
import * as AgentVersions from "./handlers/AgentVersions.ts"
import * as Events from "./handlers/Events.ts"
import * as Fingerprints from "./handlers/Fingerprints.ts"
import * as People from "./handlers/People.ts"
import * as Sessions from "./handlers/Sessions.ts"
import * as StorageUse from "./handlers/StorageUse.ts"
import * as System from "./handlers/System.ts"
import * as RequestErrors from "./validation/RequestErrors.ts"

const handlers = Layer.mergeAll(
  Events.layer,
  Fingerprints.layer,
  Agents.layer,
  AgentVersions.layer,
  People.layer,
  Sessions.layer,
  StorageUse.layer,
  System.layer
)

/** The page weighs megabytes: it is loaded when somebody asks for it. */
const docs = (api: typeof TachographApi) => {
  const scalar = HttpApiScalar.layer(api, { path: "/docs", scalar: { withDefaultFonts: false } })
  return HttpRouter.use((router) =>
    Effect.flatMap(Effect.cached(Effect.scoped(HttpRouter.toHttpEffect(scalar))), (page) =>
      router.add("GET", "/docs", Effect.flatten(page))
    )
  )
}

const prefixed = (base: string) =>
  Layer.effect(
    HttpRouter.HttpRouter,
    Effect.map(HttpRouter.HttpRouter, (router) => router.prefixed(base))
  )

/** The contract, which says where it is mounted. */
const contract = Layer.unwrap(
  Effect.map(BasePath, (base) => {
    const api = base === "" ? TachographApi : TachographApi.annotate(OpenApi.Servers, [{ url: base }])
    const routes = Layer.merge(HttpApiBuilder.layer(api, { openapiPath: "/openapi.json" }), docs(api))
    return base === "" ? routes : Layer.provide(routes, prefixed(base))
  })
)

/** As `layer`, for whoever decides by an `Authorizer` of their own. */
export const layerNoDeps = Layer.merge(Layer.provide(contract, Edge.guard), Edge.layer).pipe(
  Layer.provide(handlers),
  Layer.provide([Authorization.layer, RequestErrors.layer]),
  Layer.provide(HttpServer.layerServices)
)

/**
 * Adds every route of the contract, `/openapi.json` and `/docs` to the `HttpRouter`, below the `BasePath`. API keys open
 * them. Routes of your own in the same router are left as they are.
 */
export const layer = layerNoDeps.pipe(Layer.provide(Authorizer.layer))

/** How the router must match for names to arrive intact: nothing folded, nothing trimmed, nothing too long. */
export const routerConfig = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  // Names are held to their length by their schema, which says so.
  maxParamLength: Number.MAX_SAFE_INTEGER
} as const
