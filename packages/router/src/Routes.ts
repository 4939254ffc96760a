/** The routes, for whoever composes an Effect `HttpRouter` of their own. */
import { TachographApi } from "@tachograph/api"
import { Layer } from "effect"
import { HttpServer } from "effect/http"
import { HttpApiBuilder, HttpApiScalar } from "effect/http-api"
import * as Authorization from "./Authorization.ts"
import * as Edge from "./Edge.ts"
import * as Agents from "./handlers/Agents.ts"
import * as AgentVersions from "./handlers/AgentVersions.ts"
import * as Events from "./handlers/Events.ts"
import * as Fingerprints from "./handlers/Fingerprints.ts"
import * as People from "./handlers/People.ts"
import * as Sessions from "./handlers/Sessions.ts"
import * as StorageUse from "./handlers/StorageUse.ts"
import * as System from "./handlers/System.ts"
import * as RequestErrors from "./RequestErrors.ts"

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

const docs = HttpApiScalar.layer(TachographApi, { path: "/docs", scalar: { withDefaultFonts: false } })

/** Adds every route of the contract, `/openapi.json` and `/docs` to the `HttpRouter`. */
export const layer = Layer.mergeAll(
  HttpApiBuilder.layer(TachographApi, { openapiPath: "/openapi.json" }),
  docs,
  Edge.layer
).pipe(
  Layer.provide(handlers),
  Layer.provide([Authorization.layer, RequestErrors.layer]),
  Layer.provide(HttpServer.layerServices)
)

/** How the router must match for names to arrive intact: nothing folded, nothing trimmed, nothing too long. */
export const routerConfig = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  // Names are held to their length by their schema, which says so.
  maxParamLength: Number.MAX_SAFE_INTEGER
} as const
