/** `tachograph sessions`: which conversations there were, and what they cost. */
import type { Session } from "@tachograph/client/api"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Command } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as Filters from "../access/Filters.ts"
import * as Unseen from "../access/Unseen.ts"
import * as Figures from "../terminal/Figures.ts"
import * as Output from "../terminal/Output.ts"
import * as Style from "../terminal/Style.ts"
import * as Table from "../terminal/Table.ts"

const heading = ["SESSION", "LAST (UTC)", "CALLS", "ERRORS", "TOKENS IN", "OUT", "COST", "AGENTS", "PEOPLE", "TITLE"]
const errorsColumn = 3
const rightAligned = new Set([2, 3, 4, 5, 6])

const titleCharacters = 60

const listed = (names: ReadonlyArray<string>): string =>
  Table.printable(Figures.cut(names.slice(0, 3).join(", ") + (names.length > 3 ? ", …" : ""), 40))

const rowOf = (session: Session): ReadonlyArray<string> => [
  Table.printable(session.session),
  Figures.minute(session.last_event_at),
  Figures.integer(session.events),
  session.errors === 0 ? "" : Figures.integer(session.errors),
  Figures.integer(session.input_tokens),
  Figures.integer(session.output_tokens),
  Figures.dollars(session.cost_usd),
  listed(session.agents),
  listed(session.people),
  Table.printable(Figures.cut(session.title ?? "", titleCharacters))
]

const tableOf = (sessions: ReadonlyArray<Session>): string =>
  Table.format([heading, ...sessions.map(rowOf)], rightAligned, (cell, row, column) => {
    if (row === 0) return Style.dim(cell)
    return column === errorsColumn ? Style.red(cell) : cell
  })

const examples = [
  { command: "tachograph sessions --after 24h", description: "The conversations of the last day, the latest first" },
  { command: "tachograph sessions --person ann --errors", description: "Those of a person in which a call failed" },
  {
    command: "tachograph sessions --url https://tachograph.example.com --json",
    description: "Of a server, with the key in TACHOGRAPH_API_KEY, as JSON"
  }
]

export const sessions = Command.make(
  "sessions",
  {
    ...Access.flags,
    ...Filters.names,
    ...Filters.period("sessions whose last call took place"),
    errors: Filters.errors("sessions in which a call failed; --no-errors: in which none did"),
    limit: Filters.limit(20),
    json: Filters.json
  },
  Effect.fnUntraced(function* (flags) {
    const limit = yield* Filters.limitOf(flags.limit)
    const query = { ...(yield* Filters.queryOf(flags)), error: Option.getOrUndefined(flags.errors) }
    yield* Access.use(flags, Access.reading, (access) =>
      Effect.gen(function* () {
        const rows = yield* access.list("listSessions", query, limit)
        if (rows.length === 0) yield* Unseen.explain(access, query, flags.json)
        else if (flags.json) for (const row of rows) yield* Output.print(JSON.stringify(row))
        else yield* Output.print(tableOf(rows))
      })
    )
  })
).pipe(
  Command.withDescription("List sessions, the one with the latest call first, with what their calls add up to"),
  Command.withExamples(examples)
)
