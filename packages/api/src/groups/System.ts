/** For operators. Needs no key, and reveals nothing about the data. */
import * as Schema from "effect/Schema"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Overloaded, StorageUnavailable } from "../Errors.ts"

const Ok = Schema.Struct({ status: Schema.Literal("ok") }).annotate({ identifier: "Ok" })

const Healthy = Schema.Struct({
  ...Ok.fields,
  /** Of the server. */
  version: Schema.String
}).annotate({ identifier: "Healthy" })

export class System extends HttpApiGroup.make("system").add(
  /** Succeeds while the process serves requests. */
  HttpApiEndpoint.get("health", "/health", { success: Healthy }),
  /** Succeeds if the storage answers. */
  HttpApiEndpoint.get("ready", "/ready", { success: Ok, error: StorageUnavailable }),
  /** In Prometheus' text format. */
  HttpApiEndpoint.get("metrics", "/metrics", {
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4; charset=utf-8" })),
    error: Overloaded
  })
) {}
