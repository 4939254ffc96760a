/** `tachograph people`: who the calls are for. */
import type { PersonWithUsage } from "@tachograph/client/api"
import { sorts } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { Command } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as Filters from "../access/Filters.ts"
import * as Figures from "../terminal/Figures.ts"
import * as Output from "../terminal/Output.ts"
import * as Style from "../terminal/Style.ts"
import * as Table from "../terminal/Table.ts"

const propertiesCharacters = 80

const columns: ReadonlyArray<Table.Column<PersonWithUsage>> = [
  { title: "PERSON", of: ({ person_id }) => Table.printable(person_id) },
  { title: "KNOWN SINCE (UTC)", of: ({ created_at }) => Figures.minute(created_at) },
  { title: "LAST SEEN (UTC)", of: ({ usage }) => Figures.minuteOrNone(usage?.last_event_at) },
  Table.number("SESSIONS", ({ usage }) => Figures.integerOrUnknown(usage === null ? 0 : usage.sessions)),
  Table.number("CALLS", ({ usage }) => Figures.integer(usage?.events ?? 0)),
  Table.number("ERRORS", ({ usage }) => Figures.integerOrNone(usage?.errors ?? 0), { paint: Style.red }),
  Table.number("COST", ({ usage }) => (usage === null ? "" : Figures.sumCost(usage))),
  {
    title: "PROPERTIES",
    of: ({ properties }) =>
      Object.keys(properties).length === 0
        ? ""
        : Table.printable(Figures.cut(JSON.stringify(properties), propertiesCharacters))
  }
]

const examples = [
  { command: "tachograph people", description: "The people of the storage that a server uses by default" },
  { command: "tachograph people --sort cost", description: "Whose calls cost most; people without calls are left out" },
  { command: "tachograph people --json", description: "With their properties whole, as JSON" }
]

export const people = Command.make(
  "people",
  {
    ...Access.flags,
    ...Filters.sort(sorts, "in the order in which they became known"),
    ...Filters.order,
    limit: Filters.limit(100),
    json: Filters.json
  },
  Effect.fnUntraced(function* (flags) {
    const limit = yield* Filters.limitOf(flags.limit)
    yield* Access.use(flags, Access.reading, ({ list }) =>
      Effect.gen(function* () {
        const rows = yield* list("listPeople", Filters.sortOf(flags), limit)
        if (flags.json) for (const row of rows) yield* Output.print(JSON.stringify(row))
        else if (rows.length === 0) yield* Output.nothingFound
        else yield* Output.print(Table.ofColumns(columns, rows))
      })
    )
  })
).pipe(
  Command.withDescription("List people with their properties and what their calls add up to"),
  Command.withExamples(examples)
)
