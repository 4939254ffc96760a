import type { EventId } from "@tachograph/core/domain/Event"
import { EventSummary } from "@tachograph/core/domain/Event"
import { type Role, roles } from "@tachograph/core/domain/Role"
import * as Violation from "@tachograph/core/domain/Violation"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Cursor from "../Cursor.ts"
import { Lines } from "../Lines.ts"
import * as Page from "../Page.ts"
import { filters } from "./Events.ts"

/** In code points. */
const maxLength = 1_000

const violationOf = (text: string): Violation.Violation | undefined => {
  if (text === "") {
    return { type: "string_too_short", msg: "String should have at least 1 character", ctx: { min_length: 1 } }
  }
  const isTooLong = text.length > 2 * maxLength || (text.length > maxLength && Array.from(text).length > maxLength)
  if (!isTooLong) return undefined
  return {
    type: "string_too_long",
    msg: `String should have at most ${maxLength} characters`,
    ctx: { max_length: maxLength }
  }
}

/** The text that is searched for. */
export const SearchText = Schema.String.check(
  Violation.check(violationOf, {
    expected: `a text of 1 to ${maxLength} characters`,
    toJsonSchema: () => ({ minLength: 1, maxLength })
  })
)

const isRole = (name: string): name is Role => roles.includes(name as Role)

/** `any`, or different roles with commas between them. */
const Roles = Schema.String.annotate({
  description: `One or more of ${roles.join(", ")} with commas between them, or any. Without it: all but system`
}).pipe(
  Schema.decodeTo(
    Schema.Union([Schema.Literal("any"), Schema.Array(Schema.Literals(roles))]),
    SchemaTransformation.transformEffect({
      decode: (text: string, options) => {
        if (text === "any") return Effect.succeed("any" as const)
        const names = text.split(",")
        if (names.every(isRole) && new Set(names).size === names.length) return Effect.succeed(names)
        const violation = Violation.valueError(
          `expected one or more of ${roles.join(", ")} with commas between them, or any`
        )
        return Effect.fail(Violation.issue(violation, text, options))
      },
      encode: (sought: "any" | ReadonlyArray<Role>) => Effect.succeed(sought === "any" ? sought : sought.join(","))
    })
  )
)

const { id, session } = EventSummary.fields

const hit = {
  /** The call that first carried the text in its session. */
  event_id: id,
  session,
  /** Who said it: the role of the message, `tool` for what tools answer, `system` for instructions that have no message of their own. */
  role: Schema.String,
  /** When the call took place, or was received if it does not say. */
  at: Schema.DateTimeUtcFromString,
  /** The part of the text around the hit. */
  snippet: Schema.String,
  /** Where the hit is in the snippet, in Unicode code points. */
  hit_start: Schema.Int,
  hit_end: Schema.Int
}

export const SearchResultOnWire = Schema.Struct(hit).annotate({ identifier: "SearchResult" })

/** A session with hits, and the newest of them. */
export const SearchedSessionOnWire = Schema.Struct({
  ...hit,
  /** How many were found for this page. A later page may have more of them. */
  hits: Schema.Int
}).annotate({ identifier: "SearchedSession" })

export const cursor = Cursor.ofPlace<EventId>()

export const Query = Schema.Struct({
  q: SearchText,
  case: Schema.optionalKey(Schema.Literal("sensitive")),
  role: Schema.optionalKey(Roles),
  ...filters,
  ...Page.query(cursor)
})

const progress = {
  /** How many events could not be searched, because what is stored of them is damaged. */
  damaged_events: Schema.Int,
  next_cursor: Schema.NullOr(cursor.schema)
}

const summary = "Find where something was said, in messages and in arguments and results of tools"

export class Search extends HttpApiGroup.make("search").add(
  HttpApiEndpoint.get("search", "/search", {
    query: Query.fields,
    success: [
      Schema.Struct({ results: Schema.Array(SearchResultOnWire), ...progress }).annotate({ identifier: "SearchPage" }),
      Lines
    ]
  }).annotate(OpenApi.Summary, summary),
  HttpApiEndpoint.get("searchSessions", "/search/sessions", {
    query: Query.fields,
    success: [
      Schema.Struct({ sessions: Schema.Array(SearchedSessionOnWire), ...progress }).annotate({
        identifier: "SearchedSessionPage"
      }),
      Lines
    ]
  }).annotate(OpenApi.Summary, `${summary}: one row a session, with its hits counted`)
) {}
