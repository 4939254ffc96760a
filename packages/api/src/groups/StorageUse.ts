import { StorageUsage } from "@tachograph/core/domain/StorageUsage"
import * as Schema from "effect/Schema"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Limit } from "../Limit.ts"
import { snakeKeys } from "../WireNames.ts"

const { agents, sessions, shared, ...counters } = StorageUsage.fields

export const StorageUsageOnWire = Schema.Struct({
  ...counters,
  shared: shared.pipe(Schema.encodeKeys(snakeKeys(shared.fields))),
  agents: Schema.Array(agents.value.pipe(Schema.encodeKeys(snakeKeys(agents.value.fields)))),
  sessions: Schema.Array(sessions.value.pipe(Schema.encodeKeys(snakeKeys(sessions.value.fields))))
}).pipe(Schema.encodeKeys(snakeKeys(counters)))

export const defaultSessions = 10

export class StorageUse extends HttpApiGroup.make("storage").add(
  HttpApiEndpoint.get("readStorage", "/storage", {
    query: { sessions: Schema.optionalKey(Limit) },
    success: StorageUsageOnWire.annotate({ identifier: "StorageUsage" })
  }).annotate(OpenApi.Summary, "Read the size of payloads, as sent and as stored")
) {}
