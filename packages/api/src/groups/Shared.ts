import { Sha256 } from "@tachograph/core/domain/Sha256"
import * as Schema from "effect/Schema"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Overloaded, SharedTextDamaged, SharedTextNotFound } from "../Errors.ts"

export class Shared extends HttpApiGroup.make("shared").add(
  HttpApiEndpoint.get("getSharedText", "/shared/:sha256", {
    params: { sha256: Sha256 },
    /** A JSON string as it was sent, with its quotation marks; rarely another JSON value, such as a list of tools. */
    success: Schema.Json.annotate({ identifier: "SharedText" }),
    error: [SharedTextNotFound, SharedTextDamaged, Overloaded]
  }).annotate(
    OpenApi.Summary,
    "Read a long text that calls of the project share, byte for byte, or a `Range` of it; 304 if `If-None-Match` has the `ETag`"
  )
) {}
