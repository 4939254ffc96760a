/** `tachograph compare`: what two versions of an agent took and cost, what they ran with, and what differs. */
import type { Configuration, Operations, UsageGroup } from "@tachograph/client/api"
import { mainConfiguration } from "@tachograph/formats/normal/MainConfiguration"
import { instructionsText } from "@tachograph/formats/normal/Noise"
import * as Effect from "effect/Effect"
import { Argument, Command } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as Filters from "../access/Filters.ts"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Differences from "../terminal/Differences.ts"
import * as Output from "../terminal/Output.ts"
import * as Style from "../terminal/Style.ts"
import * as Table from "../terminal/Table.ts"
import * as VersionFigures from "../terminal/VersionFigures.ts"

type Fingerprint = Operations["getFingerprint"]["answer"]

interface Used {
  readonly version: string
  readonly configuration: Configuration
  readonly fingerprint: Fingerprint
  /** Of all calls of the version. */
  readonly usage: UsageGroup
  /** The same by model, the one with most calls first. */
  readonly models: ReadonlyArray<UsageGroup>
}

const json = (value: unknown): string => JSON.stringify(value, undefined, 2)

/** Without the model, which has its own place. */
const parametersOf = ({ parameters }: Configuration): string => {
  const { model: _model, ...others } = parameters as Readonly<Record<string, unknown>>
  return json(others)
}

/** What its program says of a runtime. */
const runtimeOf = ({ created_at: _at, fingerprint_id: _id, ...said }: Fingerprint): string => json(said)

/** The parts of a configuration as texts, in the order in which they are compared. */
const sections: ReadonlyArray<readonly [name: string, textOf: (used: Used) => string]> = [
  ["parameters", ({ configuration }) => parametersOf(configuration)],
  ["instructions", ({ configuration }) => instructionsText(configuration)],
  ["tools", ({ configuration }) => configuration.tools.map(json).join("\n")],
  ["runtime", ({ fingerprint }) => runtimeOf(fingerprint)]
]

/** `gpt-4o 57 %, claude-sonnet-4-5 43 %`: the parts of the calls. Of one model its name only. */
const modelsOf = ({ models, usage }: Used): string => {
  const name = ({ model }: UsageGroup) => Table.printable(model ?? "no model")
  if (models.length === 1) return name(models[0]!)
  return models.map((each) => `${name(each)} ${((100 * each.events) / usage.events).toFixed(0)} %`).join(", ")
}

/** For people. */
const described = (from: Used, to: Used): ReadonlyArray<string> => {
  const [before, after] = [modelsOf(from), modelsOf(to)]
  return [
    ...(before === after
      ? [Style.dim(`model: ${before}, the same`)]
      : [
          Style.bold(from.configuration.model === to.configuration.model ? "models" : "the model changed"),
          Style.red(`-${Table.printable(from.version)}: ${before}`),
          Style.green(`+${Table.printable(to.version)}: ${after}`)
        ]),
    "",
    VersionFigures.table([from.version, from.usage], [to.version, to.usage]),
    "",
    ...sections.flatMap(([name, textOf]) =>
      Differences.section(name, textOf(from), textOf(to), name === "instructions")
    )
  ]
}

const examples = [
  { command: "tachograph compare support v1 v2", description: "What changed between two versions of an agent" },
  { command: "tachograph compare support v1 v2 --json", description: "What each of them cost and ran with, as JSON" }
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
    yield* Access.use(flags, Access.reading, ({ list, read }) => {
      const used = Effect.fnUntraced(function* (version: string) {
        const named = { agent_name: flags.agent, agent_version_name: version }
        const { configurations } = yield* read("listConfigurations", { ...named, limit: Access.maxPage })
        const configuration = mainConfiguration(configurations)
        const ofVersion = { agent: flags.agent, agent_version: version }
        const [usage] = (yield* read("readUsage", ofVersion)).usage
        if (configuration === undefined || usage === undefined) {
          return yield* new CommandError({ message: `No calls of ${Table.quoted(version)} are kept` })
        }
        if (configuration.is_damaged) {
          return yield* new CommandError({ message: `The calls of ${Table.quoted(version)} are damaged` })
        }
        const { fingerprint_id } = configuration
        const fingerprint = yield* read("getFingerprint", { fingerprint_id })
        const models = yield* list("readUsage", { ...ofVersion, group_by: "model", sort: "calls" }, Access.maxPage)
        return { version, configuration, fingerprint, usage, models }
      })
      return Effect.gen(function* () {
        const from = yield* used(flags.from)
        const to = yield* used(flags.to)
        const lines = flags.json ? [from, to].map((each) => JSON.stringify(each)) : described(from, to)
        for (const line of lines) yield* Output.print(line)
      })
    })
  })
).pipe(
  Command.withDescription(
    "Compare two versions of an agent: model, cost and other figures, per session and per call, and the parameters, instructions, tools and packages of the configuration with most calls among the latest 2,000"
  ),
  Command.withExamples(examples)
)
