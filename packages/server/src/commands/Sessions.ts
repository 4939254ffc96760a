/** `tachograph sessions`: which conversations there were, and what they cost. */
import type { Session } from "@tachograph/client/api"
import { sorts } from "@tachograph/core"
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

const titleCharacters = 60

const listed = (names: ReadonlyArray<string>): string =>
  Table.printable(Figures.cut(names.slice(0, 3).join(", ") + (names.length > 3 ? ", …" : ""), 40))

const columns: ReadonlyArray<Table.Column<Session>> = [
  { title: "SESSION", of: ({ session }) => Table.printable(session) },
  { title: "LAST (UTC)", of: ({ last_event_at }) => Figures.minute(last_event_at) },
  Table.number("LASTED", Figures.lasted),
  Table.number("CALLS", ({ events }) => Figures.integer(events)),
  Table.number("ERRORS", ({ errors }) => Figures.integerOrNone(errors), { paint: Style.red }),
  Table.number("TOKENS IN", ({ input_tokens }) => Figures.integer(input_tokens)),
  Table.number("OUT", ({ output_tokens }) => Figures.integer(output_tokens)),
  Table.number("COST", Figures.sumCost),
  { title: "AGENTS", of: ({ agents }) => listed(agents) },
  { title: "VERSIONS", of: ({ agent_versions }) => listed(agent_versions) },
  { title: "PEOPLE", of: ({ people }) => listed(people) },
  { title: "TITLE", of: ({ title }) => Table.printable(Figures.cut(title ?? "", titleCharacters)) }
]

const examples = [
  { command: "tachograph sessions --after 24h", description: "The conversations of the last day, the latest first" },
  { command: "tachograph sessions --after 7d --sort cost", description: "Those of a week that cost most" },
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
    ...Filters.sort(sorts, "the latest call"),
    ...Filters.order,
    limit: Filters.limit(20),
    json: Filters.json
  },
  Effect.fnUntraced(function* (flags) {
    const limit = yield* Filters.limitOf(flags.limit)
    const error = Option.getOrUndefined(flags.errors)
    const query = { ...(yield* Filters.queryOf(flags)), error, ...Filters.sortOf(flags) }
    yield* Access.use(flags, Access.reading, (access) =>
      Effect.gen(function* () {
        const rows = yield* access.list("listSessions", query, limit)
        if (rows.length === 0) yield* Unseen.explain(access, query, flags.json)
        else if (flags.json) for (const row of rows) yield* Output.print(JSON.stringify(row))
        else yield* Output.print(Table.ofColumns(columns, rows))
      })
    )
  })
).pipe(
  Command.withDescription(
    "List sessions, the one with the latest call first or sorted, with what their calls add up to"
  ),
  Command.withExamples(examples)
)
