/** `tachograph audit`: who erased what, and which keys were created and revoked. */
import type { AuditEntry as Entry } from "@tachograph/client/api"
import * as Effect from "effect/Effect"
import { Command } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as Filters from "../access/Filters.ts"
import * as Figures from "../terminal/Figures.ts"
import * as Output from "../terminal/Output.ts"
import * as Table from "../terminal/Table.ts"

const columns: ReadonlyArray<Table.Column<Entry>> = [
  { title: "AT (UTC)", of: ({ at }) => Figures.minute(at) },
  { title: "ACTION", of: ({ action }) => action },
  { title: "BY", of: ({ actor }) => Table.printable(actor) },
  Table.number("EVENTS", ({ events }) => (events === null ? "" : Figures.integer(events))),
  { title: "WHAT", of: ({ subject }) => subject ?? "" }
]

const examples = [
  { command: "tachograph audit --after 90d", description: "Of the last 90 days, the latest first" },
  {
    command: `tachograph audit --json | grep "$(printf %s ann | sha256sum | cut -d ' ' -f 1)"`,
    description: "Whether the person or the session ann was erased"
  }
]

export const audit = Command.make(
  "audit",
  {
    ...Access.flags,
    ...Filters.period("what was done"),
    limit: Filters.limit(50),
    json: Filters.json
  },
  Effect.fnUntraced(function* (flags) {
    const limit = yield* Filters.limitOf(flags.limit)
    const query = yield* Filters.periodOf(flags)
    yield* Access.use(flags, Access.auditing, ({ list }) =>
      Effect.gen(function* () {
        const entries = yield* list("listAudit", query, limit)
        if (flags.json) for (const entry of entries) yield* Output.print(JSON.stringify(entry))
        else if (entries.length === 0) yield* Output.nothingFound
        else yield* Output.print(Table.ofColumns(columns, entries))
      })
    )
  })
).pipe(
  Command.withDescription("List who erased what, and which keys were created and revoked, the latest first"),
  Command.withExamples(examples)
)
