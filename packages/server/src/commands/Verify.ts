/** `tachograph verify`: checks that what is stored is what was recorded. */
import { firstIdOf, Moment, type ProjectId, SessionId, Storage, Throttle, Verifier } from "@tachograph/core"
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Command, Flag } from "effect/cli"
import * as Project from "../config/Project.ts"
import * as Rate from "../config/Rate.ts"
import * as Setting from "../config/Setting.ts"
import * as StorageSetting from "../config/StorageSetting.ts"
import { CommandError, Ended, UsageError } from "../terminal/CliErrors.ts"
import * as Output from "../terminal/Output.ts"
import * as Progress from "../terminal/Progress.ts"
import * as Table from "../terminal/Table.ts"
import * as VerifyReport from "../terminal/VerifyReport.ts"

/** 1 is for problems that were found, also if the storage is too damaged to be verified. */
const exitCodes = { problems: 1, couldNotRun: 2, interrupted: 130 }

const project = Project.setting("Verify only this project")

const session = Setting.make({
  name: "session",
  metavar: "NAME",
  description: "Verify only the session of this name, in the projects that have one",
  default: undefined,
  expected: "the name of a session",
  // An empty name is a session id for the type only.
  parse: (text) => Option.filter(Schema.decodeUnknownOption(SessionId)(text), (name) => name !== "")
})

const since = Setting.make({
  name: "since",
  metavar: "TIME",
  description:
    "Verify only sessions with events that were received since then: 2026-01-31T00:00:00Z, today, yesterday, or 30m, 12h, 90d, 4w ago",
  default: undefined,
  expected: Moment.expected,
  parse: Moment.parse
})

/** Resolves all options but that of the storage. */
const resolve = Effect.fnUntraced(function* (given: {
  readonly [name in "project" | "session" | "since" | "rate"]: Option.Option<string>
}) {
  const options = {
    project: yield* project.resolveOption(given.project),
    session: yield* session.resolveOption(given.session),
    since: yield* since.resolveOption(given.since),
    throttle: Throttle.atRate(yield* Rate.setting.resolve(given.rate))
  }
  if (Option.isSome(options.session) && Option.isSome(options.since)) {
    return yield* new UsageError({ message: "--since selects sessions, so --session excludes it" })
  }
  return options
})

type Options = Effect.Success<ReturnType<typeof resolve>>

/** The events of the projects, as the counters say; undefined if they cannot be read. */
const countEvents = Effect.fnUntraced(function* (projects: ReadonlyArray<ProjectId>) {
  const storage = yield* Storage
  const usages = yield* Effect.exit(Effect.forEach(projects, (project) => storage.usage(project, 0)))
  return Exit.isSuccess(usages) ? usages.value.reduce((sum, { events }) => sum + events, 0) : undefined
})

/** Whether the error says all: that there is nothing to verify, or that the output is closed. */
const isExplained = (error: unknown): boolean => error instanceof CommandError || error instanceof Ended

/** Prints what is wrong and a summary. Fails if anything is wrong. */
const run = Effect.fnUntraced(function* (options: Options, report: VerifyReport.Report) {
  const storage = yield* Storage
  const projects = yield* Project.select(options.project)
  const session = Option.getOrUndefined(options.session)
  const since = Option.getOrUndefined(options.since)?.(yield* DateTime.now).in()
  const totalEvents = session === undefined && since === undefined ? yield* countEvents(projects) : undefined
  const counts = new Verifier.Counts()
  const progress = yield* Progress.make(() => VerifyReport.progressText(counts, totalEvents))
  const print = (line: string) => Effect.andThen(progress.clear, Output.print(line))
  const cannotPrint = yield* Deferred.make<never, CommandError | Ended>()
  yield* Verifier.verify(storage, {
    projects,
    session,
    // Times before 1970 have no ids.
    since: since && firstIdOf(Math.max(0, DateTime.toEpochMillis(since))),
    throttle: options.throttle,
    counts,
    report: (finding) =>
      Effect.catch(print(report.finding(finding)), (error) => Effect.asVoid(Deferred.fail(cannotPrint, error)))
  }).pipe(
    Effect.raceFirst(Deferred.await(cannotPrint)),
    Effect.catchTag("session-not-found", () =>
      Effect.fail(new CommandError({ message: `There is no session ${Table.quoted(session!)}` }))
    ),
    // Also when it is interrupted.
    Effect.onExit((exit) =>
      Exit.isSuccess(exit) || isExplained(Cause.squash(exit.cause))
        ? Effect.void
        : Effect.ignore(print(report.summary(counts, false)))
    )
  )
  yield* print(report.summary(counts, true))
  if (counts.problems > 0) return yield* new Ended({ exitCode: exitCodes.problems })
}, Effect.scoped)

const examples = [
  { command: "tachograph verify", description: "Verify everything in ./tachograph.db" },
  {
    command: "tachograph verify --storage postgres://verifier:password@db.internal/tachograph --since 24h --rate 10%",
    description: "Verify the sessions of the last day, a tenth of the time"
  },
  {
    command: "tachograph verify --project acme --session session-1",
    description: "Verify one session"
  },
  {
    command: "tachograph verify --json > findings.jsonl",
    description: "Write one JSON object a line: what is wrong, then a summary"
  }
]

export const verify = Command.make(
  "verify",
  {
    storage: StorageSetting.persistentSetting.flag,
    project: project.flag,
    session: session.flag,
    since: since.flag,
    rate: Rate.setting.flag,
    json: Flag.Boolean("json").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Print one JSON object a line: what is wrong, then a summary")
    )
  },
  Effect.fnUntraced(
    function* (flags) {
      const options = yield* resolve(flags)
      const report = flags.json ? VerifyReport.json : VerifyReport.text
      const purpose = { access: "read", contents: "events" } as const
      yield* StorageSetting.withExisting(flags.storage, purpose, run(options, report))
    },
    Effect.catchTag("CommandError", ({ isDamage = false, message }) =>
      Effect.fail(new CommandError({ message, exitCode: isDamage ? exitCodes.problems : exitCodes.couldNotRun }))
    ),
    Effect.onInterrupt(() => Effect.sync(() => void (process.exitCode = exitCodes.interrupted)))
  )
).pipe(
  Command.withShortDescription("Check that what is stored is what was recorded"),
  Command.withDescription(
    [
      "Check that what is stored is what was recorded.",
      "Rebuilds the texts of every event as a read does, compares all checksums, and all counters with what they count.",
      "Prints what is wrong on standard output, one line each, and a summary; progress on standard error.",
      "Only reads, and runs beside servers that record.",
      "Exit codes: 0 nothing is wrong, 1 something is wrong, 2 it could not run, 130 it was stopped before its end."
    ].join("\n\n  ")
  ),
  Command.withExamples(examples)
)
