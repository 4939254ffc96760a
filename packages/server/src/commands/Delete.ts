/** `tachograph delete`: erases a session, a person or an event, and prints what was erased. */
import type { ErasureReceipt } from "@tachograph/client/api"
import * as Effect from "effect/Effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Access from "../access/Access.ts"
import type { CommandError } from "../terminal/CliErrors.ts"
import * as Confirmation from "../terminal/Confirmation.ts"
import * as Figures from "../terminal/Figures.ts"
import * as Output from "../terminal/Output.ts"
import * as Table from "../terminal/Table.ts"

interface Erasable {
  readonly name: string
  readonly argument: string
  readonly description: string
  readonly erase: (access: Access.Access, name: string) => Effect.Effect<ErasureReceipt, CommandError>
}

const described = ({ bytes, damaged, events, pieces, sessions }: ErasureReceipt): string =>
  [
    `Erased ${Figures.counted(events, "event")}, ${Figures.counted(sessions, "session")} and ${Figures.counted(pieces, "piece")} of payloads`,
    `: ${Figures.counted(bytes, "byte")} of the storage`,
    ...(damaged === 0 ? [] : [`; ${Figures.counted(damaged, "damaged pack")} deleted with them`])
  ].join("")

const flags = {
  ...Access.flags,
  yes: Flag.Boolean("yes").pipe(Flag.withDefault(false), Flag.withDescription("Erase without asking")),
  json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("Print the receipt as JSON"))
}

const commandOf = ({ argument, description, erase, name: what }: Erasable) =>
  Command.make(
    what,
    { name: Argument.String(argument).pipe(Argument.withDescription(`The ${argument} of the ${what}`)), ...flags },
    Effect.fnUntraced(function* ({ json, name, yes, ...given }) {
      if (!yes) {
        yield* Confirmation.confirm(`Erase the ${what} ${Table.quoted(name)} for good? ${description}.`)
      }
      yield* Access.use(given, Access.erasing, (access) =>
        Effect.flatMap(erase(access, name), (receipt) =>
          Output.print(json ? JSON.stringify(receipt) : described(receipt))
        )
      )
    })
  ).pipe(Command.withDescription(`Erase a ${what}. ${description}`))

const erasables: ReadonlyArray<Erasable> = [
  {
    name: "session",
    argument: "SESSION",
    description: "All its events go, and all that no other event holds",
    erase: ({ read }, session) => read("eraseSession", { session })
  },
  {
    name: "person",
    argument: "ID",
    description: "All their events go, and all that no event of others holds",
    erase: ({ read }, person_id) => read("erasePerson", { person_id })
  },
  {
    name: "event",
    argument: "ID",
    description: "It goes with all that no other event holds: what later calls of its session repeat stays with these",
    erase: ({ read }, event_id) => read("eraseEvent", { event_id })
  }
]

export const deleteCommand = Command.make("delete").pipe(
  Command.withDescription("Erase a session, a person or an event, and print the receipt of the erasure"),
  Command.withExamples([
    { command: "tachograph delete session order-4711", description: "Asks first" },
    {
      command: "tachograph delete person ann --yes --json --url https://tachograph.example.com",
      description: "On a server, with a key of scope admin in TACHOGRAPH_API_KEY, without asking"
    }
  ]),
  Command.withSubcommands(erasables.map(commandOf))
)
