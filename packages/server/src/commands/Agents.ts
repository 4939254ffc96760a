/** `tachograph agents`: which agents there are, and which versions one of them has. */
import type { Agent, AgentVersion } from "@tachograph/client/api"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Argument, Command } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as Filters from "../access/Filters.ts"
import * as Figures from "../terminal/Figures.ts"
import * as Output from "../terminal/Output.ts"
import * as Table from "../terminal/Table.ts"

const descriptionCharacters = 80

const described = (text: string | null): string =>
  Table.printable(Figures.cut((text ?? "").replaceAll(/\s+/g, " ").trim(), descriptionCharacters))

const agentColumns: ReadonlyArray<Table.Column<Agent>> = [
  { title: "AGENT", of: ({ agent_name }) => Table.printable(agent_name) },
  { title: "KNOWN SINCE (UTC)", of: ({ created_at }) => Figures.minute(created_at) },
  { title: "DESCRIPTION", of: ({ description }) => described(description) }
]

const versionColumns: ReadonlyArray<Table.Column<AgentVersion>> = [
  { title: "VERSION", of: ({ agent_version_name }) => Table.printable(agent_version_name) },
  { title: "KNOWN SINCE (UTC)", of: ({ created_at }) => Figures.minute(created_at) },
  {
    title: "DEPRECATED (UTC)",
    of: ({ deprecated_at }) => (deprecated_at === null ? "" : Figures.minute(deprecated_at))
  },
  { title: "DESCRIPTION", of: ({ description }) => described(description) }
]

const print = Effect.fnUntraced(function* <Row>(
  columns: ReadonlyArray<Table.Column<Row>>,
  rows: ReadonlyArray<Row>,
  isJson: boolean
) {
  if (isJson) for (const row of rows) yield* Output.print(JSON.stringify(row))
  else if (rows.length === 0) yield* Output.nothingFound
  else yield* Output.print(Table.ofColumns(columns, rows))
})

const examples = [
  { command: "tachograph agents", description: "The agents of the storage that a server uses by default" },
  { command: "tachograph agents support", description: "The versions of one of them" }
]

export const agents = Command.make(
  "agents",
  {
    agent: Argument.String("agent").pipe(
      Argument.withDescription("List the versions of this agent"),
      Argument.optional
    ),
    ...Access.flags,
    limit: Filters.limit(100),
    json: Filters.json
  },
  Effect.fnUntraced(function* (flags) {
    const limit = yield* Filters.limitOf(flags.limit)
    yield* Access.use(flags, Access.reading, ({ list }) =>
      Option.match(flags.agent, {
        onNone: () => Effect.flatMap(list("listAgents", {}, limit), (rows) => print(agentColumns, rows, flags.json)),
        onSome: (agent_name) =>
          Effect.flatMap(list("listAgentVersions", { agent_name }, limit), (rows) =>
            print(versionColumns, rows, flags.json)
          )
      })
    )
  })
).pipe(
  Command.withDescription("List agents, or the versions of one, in the order in which they became known"),
  Command.withExamples(examples)
)
