import { AgentName } from "@tachograph/core/domain/Agent"
import { AgentVersionName } from "@tachograph/core/domain/AgentVersion"
import type { EventId } from "@tachograph/core/domain/Event"
import { FailedModel, FailedVersion, Failure, FailureName } from "@tachograph/core/domain/Failure"
import { Name } from "@tachograph/core/domain/Name"
import { PersonId } from "@tachograph/core/domain/Person"
import { SessionId } from "@tachograph/core/domain/Session"
import * as Schema from "effect/Schema"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ApiOrAlias } from "../Api.ts"
import * as Cursor from "../Cursor.ts"
import * as Page from "../Page.ts"
import { snakeKeys } from "../WireNames.ts"

const fields = {
  ...Failure.fields,
  agentVersions: Schema.Array(FailedVersion.pipe(Schema.encodeKeys(snakeKeys(FailedVersion.fields)))),
  models: Schema.Array(FailedModel)
}

const FailureOnWire = Schema.Struct(fields)
  .pipe(Schema.encodeKeys(snakeKeys(fields)))
  .annotate({ identifier: "Failure" })

export const cursor = Cursor.ofId<EventId>()

export class Failures extends HttpApiGroup.make("failures").add(
  HttpApiEndpoint.get("listFailures", "/failures", {
    query: {
      failure: Schema.optionalKey(FailureName),
      session: Schema.optionalKey(SessionId),
      agent: Schema.optionalKey(AgentName),
      agent_version: Schema.optionalKey(AgentVersionName),
      person: Schema.optionalKey(PersonId),
      model: Schema.optionalKey(Name),
      api: Schema.optionalKey(ApiOrAlias),
      ...Page.period,
      ...Page.query(cursor)
    },
    success: Schema.Struct({
      failures: Schema.Array(FailureOnWire),
      /** How many failed calls the page has looked at, the latest first: all of them where `next_cursor` is null. */
      events: Schema.Int,
      /** How many of them are damaged: they are in no group. */
      damaged_events: Schema.Int,
      next_cursor: Schema.NullOr(cursor.schema)
    }).annotate({ identifier: "FailurePage" })
  }).annotate(OpenApi.Summary, "Group failed calls by status and the provider's type and code, with its message")
) {}
