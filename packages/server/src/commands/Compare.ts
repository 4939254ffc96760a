/** `tachograph compare`: what two versions of an agent ran with, and what differs. */
import type { Configuration } from "@tachograph/client/api"
import { instructionsText } from "@tachograph/formats/normal/Noise"
import * as Effect from "effect/Effect"
import { Argument, Command } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as Filters from "../access/Filters.ts"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Differences from "../terminal/Differences.ts"
import * as Output from "../terminal/Output.ts"
import * as Table from "../terminal/Table.ts"

interface Used {
  readonly configuration: Configuration
  readonly fingerprint: unknown
}

const json = (value: unknown): string => JSON.stringify(value, undefined, 2)

/** The parts of a configuration as texts, in the order in which they are compared. */
const sections: ReadonlyArray<readonly [name: string, textOf: (used: Used) => string]> = [
  ["model", ({ configuration }) => configuration.model ?? ""],
  ["parameters", ({ configuration }) => json(configuration.parameters)],
  ["instructions", ({ configuration }) => instructionsText(configuration)],
  ["tools", ({ configuration }) => configuration.tools.map(json).join("\n")],
  ["fingerprint", ({ fingerprint }) => json(fingerprint)]
]

const examples = [
  { command: "tachograph compare support v1 v2", description: "What changed between two versions of an agent" },
  { command: "tachograph compare support v1 v2 --json", description: "What each of them ran with, as JSON" }
]

export const compare = Command.make(
  "compare",
  {
    agent: Argument.String("agent").pipe(Argument.withDescription("The agent")),
    from: Argument.String("from").pipe(Argument.withDescription("The one version")),
    to: Argument.String("to").pipe(Argument.withDescription("The other version")),
    ...Access.flags,
    json: Filters.json
  },
  Effect.fnUntraced(function* (flags) {
    yield* Access.use(flags, Access.reading, ({ read }) => {
      const lastUsed = Effect.fnUntraced(function* (version: string) {
        const named = { agent_name: flags.agent, agent_version_name: version }
        const { configurations } = yield* read("listConfigurations", { ...named, limit: 1 })
        const [configuration] = configurations
        if (configuration === undefined) {
          return yield* new CommandError({ message: `No calls of ${Table.quoted(version)} are kept` })
        }
        if (configuration.is_damaged) {
          return yield* new CommandError({ message: `The last call of ${Table.quoted(version)} is damaged` })
        }
        const { fingerprint_id } = configuration
        const fingerprint = yield* read("getFingerprint", { fingerprint_id })
        return { configuration, fingerprint }
      })
      return Effect.gen(function* () {
        const from = yield* lastUsed(flags.from)
        const to = yield* lastUsed(flags.to)
        if (flags.json) {
          yield* Output.print(JSON.stringify({ version: flags.from, ...from }))
          yield* Output.print(JSON.stringify({ version: flags.to, ...to }))
          return
        }
        for (const [name, textOf] of sections) {
          for (const line of Differences.section(name, textOf(from), textOf(to))) yield* Output.print(line)
        }
      })
    })
  })
).pipe(
  Command.withDescription(
    "Compare what two versions of an agent ran with last: model, parameters, instructions, tools and packages"
  ),
  Command.withExamples(examples)
)
