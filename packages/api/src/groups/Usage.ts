import { AgentName } from "@tachograph/core/domain/Agent"
import { AgentVersionName } from "@tachograph/core/domain/AgentVersion"
import { Name } from "@tachograph/core/domain/Name"
import { PersonId } from "@tachograph/core/domain/Person"
import { type Dimension, dimensions, UsageGroup } from "@tachograph/core/domain/UsageGroup"
import * as Violation from "@tachograph/core/domain/Violation"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ApiOrAlias } from "../Api.ts"
import * as Cursor from "../Cursor.ts"
import * as Page from "../Page.ts"
import * as Sorted from "../Sorted.ts"
import { snakeKeys } from "../WireNames.ts"

const isDimension = (name: string): name is Dimension => dimensions.includes(name as Dimension)

/** One or two different dimensions, with a comma between them. */
const GroupBy = Schema.String.pipe(
  Schema.decodeTo(
    Schema.Array(Schema.Literals(dimensions)),
    SchemaTransformation.transformEffect({
      decode: (text: string, options) => {
        const names = text.split(",")
        const isValid = names.every(isDimension) && names.length <= 2 && new Set(names).size === names.length
        if (isValid) return Effect.succeed(names)
        const violation = Violation.valueError(
          `expected up to two of ${dimensions.join(", ")}, with a comma between them`
        )
        return Effect.fail(Violation.issue(violation, text, options))
      },
      encode: (names: ReadonlyArray<Dimension>) => Effect.succeed(names.join(","))
    })
  )
)

const isTimeZone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== ""
  } catch {
    return false
  }
}

const TimeZone = Schema.String.check(
  Violation.check((name) =>
    isTimeZone(name) ? undefined : Violation.valueError("expected the name of a time zone, such as Europe/Berlin")
  )
)

export const UsageGroupOnWire = UsageGroup.pipe(Schema.encodeKeys(snakeKeys(UsageGroup.fields))).annotate({
  identifier: "UsageGroup"
})

export const cursor = Cursor.ofKeys

const canBeSorted = Violation.check<{
  readonly group_by?: ReadonlyArray<Dimension>
  readonly sort?: string
}>(({ group_by = [], sort }) => {
  if (sort === undefined) return undefined
  if (group_by.includes("session")) return Violation.valueError("sessions are sorted in the list of sessions")
  const isOfTimes = group_by.includes("hour") || group_by.includes("day")
  return isOfTimes && group_by.includes("person")
    ? Violation.valueError("people are not sorted by hours or days: there may be a million of these groups")
    : undefined
})

export class Usage extends HttpApiGroup.make("usage").add(
  HttpApiEndpoint.get("readUsage", "/usage", {
    query: Schema.Struct({
      group_by: Schema.optionalKey(GroupBy),
      time_zone: Schema.optionalKey(TimeZone),
      agent: Schema.optionalKey(AgentName),
      agent_version: Schema.optionalKey(AgentVersionName),
      person: Schema.optionalKey(PersonId),
      model: Schema.optionalKey(Name),
      api: Schema.optionalKey(ApiOrAlias),
      ...Page.period,
      ...Page.query(cursor),
      ...Sorted.query
    }).check(canBeSorted, Sorted.orderHasSort),
    success: Schema.Struct({
      ...Page.of("UsagePage", "usage", UsageGroupOnWire, cursor).fields,
      /** Of all groups together: with the first page, if there are any. */
      total: Schema.NullOr(UsageGroupOnWire)
    }).annotate({ identifier: "UsagePage" })
  }).annotate(OpenApi.Summary, "Add up calls, tokens and cost, by time, name or model")
) {}
