import { StorageUsage } from "@tachograph/core/domain/StorageUsage"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AllowedScopes, readingOnly } from "../Authorization.ts"
import { Limit } from "../Limit.ts"

const counterKeys = { sentBytes: "sent_bytes", newBytes: "new_bytes", storedBytes: "stored_bytes" } as const

const { agents, sessions, shared, ...counters } = StorageUsage.fields

export const StorageUsageOnWire = Schema.Struct({
  ...counters,
  shared: shared.pipe(Schema.encodeKeys({ newBytes: "new_bytes", storedBytes: "stored_bytes" })),
  agents: Schema.Array(agents.value.pipe(Schema.encodeKeys(counterKeys))),
  sessions: Schema.Array(sessions.value.pipe(Schema.encodeKeys(counterKeys)))
}).pipe(Schema.encodeKeys(counterKeys))

export const defaultSessions = 10

export class StorageUse extends HttpApiGroup.make("storage").add(
  HttpApiEndpoint.get("readStorage", "/storage", {
    query: { sessions: Schema.optionalKey(Limit) },
    success: StorageUsageOnWire.annotate({ identifier: "StorageUsage" })
  })
    .annotate(AllowedScopes, readingOnly)
    .annotate(OpenApi.Summary, "What payloads take, as sent and as stored")
) {}
