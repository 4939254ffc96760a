import type { EventId } from "@tachograph/core/domain/Event"
import { EventSummary } from "@tachograph/core/domain/Event"
import * as Violation from "@tachograph/core/domain/Violation"
import * as Schema from "effect/Schema"
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

const { id, session } = EventSummary.fields

export const SearchResultOnWire = Schema.Struct({
  /** The call that first carried the text in its session. */
  event_id: id,
  session,
  /** The role of the message; `system` for instructions that stand apart from the messages. */
  role: Schema.String,
  /** When the call took place, or was received if it does not say. */
  at: Schema.DateTimeUtcFromString,
  /** The part of the text around the hit. */
  snippet: Schema.String,
  /** Where the hit is in the snippet, in Unicode code points. */
  hit_start: Schema.Int,
  hit_end: Schema.Int
}).annotate({ identifier: "SearchResult" })

export const cursor = Cursor.ofPlace<EventId>()

export class Search extends HttpApiGroup.make("search").add(
  HttpApiEndpoint.get("search", "/search", {
    query: {
      q: SearchText,
      case: Schema.optionalKey(Schema.Literal("sensitive")),
      ...filters,
      ...Page.query(cursor)
    },
    success: [
      Schema.Struct({
        results: Schema.Array(SearchResultOnWire),
        /** How many events could not be searched, because what is stored of them is damaged. */
        damaged_events: Schema.Int,
        next_cursor: Schema.NullOr(cursor.schema)
      }).annotate({ identifier: "SearchPage" }),
      Lines
    ]
  }).annotate(OpenApi.Summary, "Find where something was said, in messages and in arguments and results of tools")
) {}
