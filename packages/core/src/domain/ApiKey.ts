import { Schema } from "effect"
import { Name } from "./Name.ts"
import { ProjectId } from "./Project.ts"

export const scopes = ["record", "read", "admin"] as const

/** `record`: the interface's nine endpoints. `read`: everything that only reads. `admin`: everything. */
export const Scope = Schema.Literals(scopes)
export type Scope = typeof Scope.Type

/** What is known of a key; the key itself is shown once, when it is issued, and kept nowhere. */
export class ApiKey extends Schema.Class<ApiKey>("ApiKey")({
  /** Names the key where the key itself must not be written: in lists, and to revoke it. */
  id: Schema.String,
  project: ProjectId,
  name: Name,
  scopes: Schema.Array(Scope),
  createdAt: Schema.DateTimeUtcFromString,
  expiresAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  revokedAt: Schema.NullOr(Schema.DateTimeUtcFromString)
}) {}
