import * as Schema from "effect/Schema"
import { Name } from "./Name.ts"
import { ProjectId } from "./Project.ts"

export const scopes = ["record", "read", "admin"] as const

/** `record`: the nine recording endpoints. `read`: every endpoint that only reads. `admin`: every endpoint. */
export const Scope = Schema.Literals(scopes)
export type Scope = typeof Scope.Type

/** The metadata of a key. The key itself is shown once, when it is issued, and only its hash is stored. */
export class ApiKey extends Schema.Class<ApiKey>("ApiKey")({
  /** Identifies the key without revealing it: in lists, and to revoke it. */
  id: Schema.String,
  project: ProjectId,
  name: Name,
  scopes: Schema.Array(Scope),
  createdAt: Schema.DateTimeUtcFromString,
  expiresAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  revokedAt: Schema.NullOr(Schema.DateTimeUtcFromString)
}) {}
