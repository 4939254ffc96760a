import { AuditEntry } from "@tachograph/core/domain/AuditEntry"
import * as Schema from "effect/Schema"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Cursor from "../Cursor.ts"
import * as Page from "../Page.ts"

export const AuditEntryOnWire = AuditEntry.pipe(Schema.encodeKeys({ id: "audit_id" })).annotate({
  identifier: "AuditEntry"
})

export const cursor = Cursor.ofId<string>()

export class Audit extends HttpApiGroup.make("audit").add(
  HttpApiEndpoint.get("listAudit", "/audit", {
    query: {
      ...Page.period,
      ...Page.query(cursor)
    },
    success: Page.of("AuditPage", "entries", AuditEntryOnWire, cursor)
  }).annotate(OpenApi.Summary, "List who erased what, and which keys were created and revoked, the latest first")
) {}
