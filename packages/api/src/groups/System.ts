/** What operators ask. Needs no key and says nothing of the data. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { StorageUnavailable } from "../Errors.ts"

const Ok = Schema.Struct({ status: Schema.Literal("ok") }).annotate({ identifier: "Ok" })

export class System extends HttpApiGroup.make("system").add(
  /** The process is alive. */
  HttpApiEndpoint.get("health", "/health", { success: Ok }),
  /** The storage answers. */
  HttpApiEndpoint.get("ready", "/ready", { success: Ok, error: StorageUnavailable }),
  /** In the text format of Prometheus. */
  HttpApiEndpoint.get("metrics", "/metrics", {
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4; charset=utf-8" }))
  })
) {}
