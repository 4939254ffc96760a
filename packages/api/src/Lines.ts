/** Lines of JSON, each of which is an answer of its own. */
import * as Schema from "effect/Schema"
import { HttpApiSchema } from "effect/http-api"

export const linesType = "application/x-ndjson"

export const Lines = Schema.String.pipe(HttpApiSchema.asText({ contentType: linesType }))
