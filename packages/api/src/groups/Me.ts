import { Scope } from "@tachograph/core/domain/ApiKey"
import { ProjectId } from "@tachograph/core/domain/Project"
import * as Schema from "effect/Schema"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

/** What a key opens, and what the server is. */
export const MeOnWire = Schema.Struct({
  project: ProjectId,
  /** Who it is in the audit log: the id of the key, the name of a person who has signed in, or a few words. */
  actor: Schema.String,
  /** `admin` includes the others. */
  scopes: Schema.Array(Scope),
  /** The version of the server. */
  version: Schema.String,
  /** How long events are kept, in milliseconds; null if none are erased by their age. */
  retention_ms: Schema.NullOr(Schema.Int),
  /** The days of the price lists by which calls get their costs, the newest first. */
  prices: Schema.String,
  /** By which facts and costs of new events are computed: a version, and the price lists. */
  rules: Schema.String,
  /** The names of the upstreams that the recording proxy passes calls on to, as in `/proxy/NAME`; null if it is off. */
  proxy_upstreams: Schema.NullOr(Schema.Array(Schema.String)),
  /**
   * How many events of the project are by which rules; null without the scope `read`. `tachograph reindex` brings them to the
   * current ones.
   */
  events_by_rules: Schema.NullOr(Schema.Array(Schema.Struct({ rules: Schema.String, events: Schema.Int })))
}).annotate({ identifier: "Me" })

export class Me extends HttpApiGroup.make("me").add(
  HttpApiEndpoint.get("getMe", "/me", { success: MeOnWire }).annotate(
    OpenApi.Summary,
    "Read what the key opens, and what the server is"
  )
) {}
