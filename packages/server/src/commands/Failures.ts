/** `tachograph failures`: how calls failed, and what the providers said. */
import type { Failure } from "@tachograph/client/api"
import * as Console from "effect/Console"
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

/** Failures that the interface answers at most. */
const maxFailures = 1_000

/** Names that a cell has, and characters of a message. */
const maxNames = 3
const messageCharacters = 100

const listed = (names: ReadonlyArray<string>, others: number): string => {
  const more = Math.max(0, names.length - maxNames) + others
  return Table.printable(names.slice(0, maxNames).join(", ")) + (more === 0 ? "" : ` and ${Figures.integer(more)} more`)
}

const columns: ReadonlyArray<Table.Column<Failure>> = [
  { title: "FAILURE", of: ({ failure }) => Table.printable(failure), paint: Style.red },
  Table.number("CALLS", ({ events }) => Figures.integer(events)),
  Table.number("SESSIONS", ({ sessions }) => Figures.integer(sessions)),
  Table.number("PEOPLE", ({ people }) => Figures.integerOrNone(people)),
  { title: "FIRST (UTC)", of: ({ first_at }) => Figures.minute(first_at) },
  { title: "LAST", of: ({ last_at }) => Figures.minute(last_at) },
  {
    title: "AGENTS",
    of: ({ agent_versions, other_agent_versions }) =>
      listed(
        agent_versions.map(({ agent, agent_version: version }) =>
          version === "default" ? agent : `${agent} ${version}`
        ),
        other_agent_versions
      )
  },
  {
    title: "MODELS",
    of: ({ models, other_models }) =>
      listed(
        models.map(({ model }) => model ?? "—"),
        other_models
      )
  },
  { title: "LATEST CALL", of: ({ event_id }) => event_id, paint: Style.dim },
  {
    title: "WHAT THE PROVIDER SAID",
    of: ({ message }) => Table.printable(Figures.cut((message ?? "").replaceAll(/\s+/g, " ").trim(), messageCharacters))
  }
]

const examples = [
  { command: "tachograph failures --after 24h", description: "How calls of the last day failed, and why" },
  {
    command: "tachograph failures --agent support --agent-version v2 --json",
    description: "Those of one version, as JSON"
  },
  {
    command: "tachograph calls --failure 429/rate_limit_error/-",
    description: "The calls of one of them"
  }
]

export const failures = Command.make(
  "failures",
  {
    ...Access.flags,
    ...Filters.names,
    ...Filters.period("calls that took place"),
    session: Filters.session,
    failure: Filters.failure,
    cursor: Filters.text("cursor", "CURSOR", "Look at the calls before those that an earlier list has looked at"),
    limit: Filters.limit(100),
    json: Filters.json
  },
  Effect.fnUntraced(function* (flags) {
    const limit = Math.min(maxFailures, yield* Filters.limitOf(flags.limit))
    const query = {
      ...(yield* Filters.queryOf(flags)),
      failure: Option.getOrUndefined(flags.failure),
      cursor: Option.getOrUndefined(flags.cursor),
      limit
    }
    yield* Access.use(flags, Access.reading, (access) =>
      Effect.gen(function* () {
        const { damaged_events, events, failures, next_cursor } = yield* access.read("listFailures", query)
        if (failures.length === 0) yield* Unseen.explain(access, query, flags.json)
        else if (flags.json) for (const failure of failures) yield* Output.print(JSON.stringify(failure))
        else yield* Output.print(Table.ofColumns(columns, failures))
        if (damaged_events > 0)
          yield* Console.error(`${Figures.integer(damaged_events)} damaged calls are in none of them`)
        if (next_cursor !== null) {
          yield* Console.error(
            `Only the ${Figures.integer(events)} failed calls that were recorded last were looked at: --cursor ${next_cursor} for those before`
          )
        }
      })
    )
  })
).pipe(
  Command.withDescription("List how calls failed: by status, type and code, with what the provider said last"),
  Command.withExamples(examples)
)
