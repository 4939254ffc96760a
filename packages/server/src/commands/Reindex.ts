/** `tachograph reindex`: computes facts and costs of stored events anew. */
import { type OwnPrices, Prices, type ProjectId, Reindexer, Storage, Throttle } from "@tachograph/core"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import { Command, Flag } from "effect/cli"
import * as FileSettings from "../config/FileSettings.ts"
import * as Project from "../config/Project.ts"
import * as Rate from "../config/Rate.ts"
import * as StorageSetting from "../config/StorageSetting.ts"
import { CommandError, Ended } from "../terminal/CliErrors.ts"
import * as Output from "../terminal/Output.ts"
import * as Progress from "../terminal/Progress.ts"
import * as ReindexReport from "./ReindexReport.ts"

/** 1 is for events that are left as they are. */
const exitCodes = { left: 1, couldNotRun: 2, interrupted: 130 }

const project = Project.setting("Reindex only this project")

interface Options {
  readonly project: Option.Option<ProjectId>
  readonly throttle: Throttle.Throttle
  readonly prices: OwnPrices | null
}

const rulesOf = Effect.fnUntraced(function* (projects: ReadonlyArray<ProjectId>) {
  const { rulesInUse } = yield* Storage
  return yield* Effect.forEach(projects, (each) => Effect.map(rulesInUse(each), (rules) => ({ project: each, rules })))
})

/** Prints what is left, and a result. Fails if anything is left. */
const run = Effect.fnUntraced(function* (options: Options, report: ReindexReport.Report) {
  const storage = yield* Storage
  const projects = yield* Project.select(options.project)
  const counts = new Reindexer.Counts()
  const current = yield* Reindexer.currentRules
  const isOther = (rules: string) => rules !== current
  const total = (yield* rulesOf(projects))
    .flatMap(({ rules }) => rules)
    .reduce((sum, { events, rules }) => (isOther(rules) ? sum + events : sum), 0)
  const clock = yield* Clock.Clock
  const startedAt = clock.currentTimeMillisUnsafe()
  const elapsed = () => clock.currentTimeMillisUnsafe() - startedAt
  const progressText = () => ReindexReport.progressText(counts, total, elapsed())
  const progress = yield* Progress.make(progressText)
  const sayStopped = Effect.suspend(() => Console.error(`${progressText()}. Stopped: run it again to go on`))
  const print = (line: string) => Effect.andThen(progress.clear, Output.print(line))
  const cannotPrint = yield* Deferred.make<never, CommandError | Ended>()
  yield* Reindexer.reindex(storage, {
    projects,
    throttle: options.throttle,
    counts,
    report: (left) =>
      Effect.catch(print(report.left(left)), (error) => Effect.asVoid(Deferred.fail(cannotPrint, error)))
  }).pipe(
    Effect.raceFirst(Deferred.await(cannotPrint)),
    Effect.onInterrupt(() => Effect.andThen(progress.clear, sayStopped))
  )
  yield* print(report.result({ rules: current, counts, projects: yield* rulesOf(projects) }))
  if (counts.left > 0) return yield* new Ended({ exitCode: exitCodes.left })
}, Effect.scoped)

const examples = [
  {
    command: "tachograph reindex",
    description: "Bring the events in ./tachograph.db to the rules and prices of this version"
  },
  {
    command: "tachograph reindex --storage postgres://tachograph:password@db.internal/tachograph --rate 10%",
    description: "The same beside servers that record, a tenth of the time"
  },
  { command: "tachograph reindex --prices prices.json", description: "Price all calls again by prices of your own" }
]

export const reindex = Command.make(
  "reindex",
  {
    storage: StorageSetting.persistentSetting.flag,
    project: project.flag,
    prices: FileSettings.prices.flag,
    rate: Rate.setting.flag,
    json: Flag.Boolean("json").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Print one JSON object a line: each event that is left as it is, then the result")
    )
  },
  Effect.fnUntraced(
    function* (flags) {
      const options = {
        project: yield* project.resolveOption(flags.project),
        throttle: Throttle.atRate(yield* Rate.setting.resolve(flags.rate)),
        prices: yield* FileSettings.prices.resolve(flags.prices)
      }
      const report = flags.json ? ReindexReport.json : ReindexReport.text
      const purpose = { access: "update", contents: "events" } as const
      yield* StorageSetting.withExisting(flags.storage, purpose, run(options, report)).pipe(
        Effect.provideService(Prices, { own: options.prices })
      )
    },
    Effect.catchTag("CommandError", ({ message }) =>
      Effect.fail(new CommandError({ message, exitCode: exitCodes.couldNotRun }))
    ),
    Effect.onInterrupt(() => Effect.sync(() => void (process.exitCode = exitCodes.interrupted)))
  )
).pipe(
  Command.withShortDescription("Compute facts and costs of stored events anew"),
  Command.withDescription(
    [
      "Compute facts and costs of stored events anew, by the rules and prices of this version.",
      "Events that are by these already are left alone, so an interrupted run goes on where it was when it is started again.",
      "Prints each damaged event, which is left as it is, and a result on standard output; progress on standard error.",
      "Works in short steps beside servers that record.",
      "Exit codes: 0 done, 1 events are left as they are, 2 it could not run, 130 it was stopped before its end."
    ].join("\n\n  ")
  ),
  Command.withExamples(examples)
)
