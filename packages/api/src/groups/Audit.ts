import { AuditEntry } from "@tachograph/core/domain/AuditEntry"
import * as Schema from "effect/Schema"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Cursor from "../Cursor.ts"
import { Instant } from "../Instant.ts"
import { Limit } from "../Limit.ts"

export const AuditEntryOnWire = AuditEntry.pipe(Schema.encodeKeys({ id: "audit_id" })).annotate({
  identifier: "AuditEntry"
})

export const cursor = Cursor.ofId<string>()

export class Audit extends HttpApiGroup.make("audit").add(
  HttpApiEndpoint.get("listAudit", "/audit", {
    query: {
      after: Schema.optionalKey(Instant),
      before: Schema.optionalKey(Instant),
      limit: Schema.optionalKey(Limit),
      cursor: Schema.optionalKey(cursor.schema)
    },
    success: Schema.Struct({
      entries: Schema.Array(AuditEntryOnWire),
      next_cursor: Schema.NullOr(cursor.schema)
    }).annotate({ identifier: "AuditPage" })
  }).annotate(OpenApi.Summary, "List who erased what, and which keys were created and revoked, the latest first")
) {}
