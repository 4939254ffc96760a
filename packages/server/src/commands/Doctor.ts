/** `tachograph doctor`: looks at what a server depends on, and says what to mend. Changes nothing. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Command, Flag } from "effect/cli"
import * as UrlSetting from "../access/UrlSetting.ts"
import * as StorageSetting from "../config/StorageSetting.ts"
import * as AddressChecks from "../doctor/AddressChecks.ts"
import type { Check, Finding } from "../doctor/Check.ts"
import * as ProcessChecks from "../doctor/ProcessChecks.ts"
import * as StorageChecks from "../doctor/StorageChecks.ts"
import { Ended } from "../terminal/CliErrors.ts"
import * as Json from "../terminal/Json.ts"
import * as Output from "../terminal/Output.ts"
import * as Style from "../terminal/Style.ts"
import * as Table from "../terminal/Table.ts"
import * as Workers from "../workers/Workers.ts"
import * as ProxySettings from "./ProxySettings.ts"
import * as ServeOptions from "./ServeOptions.ts"

const paints: Readonly<Record<Finding["state"], (text: string) => string>> = {
  ok: Style.green,
  warning: Style.yellow,
  problem: Style.red
}

/** Wide enough for each name. */
const nameWidth = 16

const line = ({ name }: Check, { mend, says, see, state }: Finding): string => {
  const head = `${paints[state](state.padEnd(7))}  ${name.padEnd(nameWidth)}  ${Table.printable(says)}`
  return mend === undefined ? head : `${head} — ${mend} (docs/${see})`
}

const url = UrlSetting.setting.flag.pipe(
  Flag.withDescription("Also look at the server at this address, through whatever stands in front (TACHOGRAPH_URL)")
)

export const doctor = Command.make(
  "doctor",
  {
    storage: StorageSetting.setting.flag,
    url,
    maxBody: ServeOptions.maxBody.flag,
    maxConnections: ServeOptions.maxConnections.flag,
    workers: Workers.setting.flag,
    proxy: ProxySettings.flags.proxy,
    json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("Print one JSON object a line"))
  },
  Effect.fnUntraced(function* (flags) {
    const choice = yield* StorageSetting.setting.resolve(flags.storage)
    const address = Option.getOrUndefined(yield* UrlSetting.setting.resolveOption(flags.url))
    const maxBodyBytes = yield* ServeOptions.maxBody.resolve(flags.maxBody)
    const maxConnections = yield* ServeOptions.maxConnections.resolve(flags.maxConnections)
    const workers = yield* Workers.setting.resolve(flags.workers)
    const checks: ReadonlyArray<Check> = [
      ...ProcessChecks.of(maxConnections, yield* ProxySettings.isOn(flags.proxy)),
      ...(yield* StorageChecks.of(choice, workers)),
      ...(address === undefined ? [] : AddressChecks.of(address, maxBodyBytes))
    ]
    let problems = 0
    for (const check of checks) {
      const finding = yield* check.look
      if (finding.state === "problem") problems++
      yield* Output.print(flags.json ? Json.format({ check: check.name, ...finding }) : line(check, finding))
    }
    if (problems > 0) return yield* new Ended({ exitCode: 1 })
  })
).pipe(
  Command.withShortDescription("Look at what a server depends on, and say what to mend"),
  Command.withDescription(
    [
      "Look at what a server depends on, and say what to mend: this process and machine, the storage and its disk, and with --url what stands in front.",
      "Give it the options of `serve`, as the user that serves. Changes nothing in the storage, and runs beside a server.",
      "Prints a line for each check: ok, warning or problem. With --url it posts a body of --max-body, of which nothing is recorded: TACHOGRAPH_API_KEY needs the scopes record,read.",
      "Exit codes: 0 nothing is a problem, 1 something is, 2 the command line is invalid."
    ].join("\n\n  ")
  ),
  Command.withExamples([
    { command: "tachograph doctor", description: "Look at ./tachograph.db and this machine" },
    {
      command:
        "tachograph doctor --storage postgres://tachograph@db.internal/tachograph --url https://tachograph.example.com",
      description: "Look at a database, and at the address that clients use"
    },
    { command: "tachograph doctor --json", description: "Write one JSON object a line" }
  ])
)
