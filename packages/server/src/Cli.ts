/** The command `tachograph`. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CliConfig, type CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import packageJson from "../package.json" with { type: "json" }
import { audit } from "./commands/Audit.ts"
import { backup } from "./commands/Backup.ts"
import { calls } from "./commands/Calls.ts"
import { compare } from "./commands/Compare.ts"
import { copy } from "./commands/Copy.ts"
import { doctor } from "./commands/Doctor.ts"
import { exportCommand } from "./commands/Export.ts"
import { importCommand } from "./commands/Import.ts"
import { keys } from "./commands/Keys.ts"
import { migrate } from "./commands/Migrate.ts"
import { reindex } from "./commands/Reindex.ts"
import { restore } from "./commands/Restore.ts"
import { search } from "./commands/Search.ts"
import { serve } from "./commands/Serve.ts"
import { sessions } from "./commands/Sessions.ts"
import { show } from "./commands/Show.ts"
import { storage } from "./commands/Storage.ts"
import { tail } from "./commands/Tail.ts"
import { usage as usageCommand } from "./commands/Usage.ts"
import { verify } from "./commands/Verify.ts"
import { CommandError, UsageError } from "./terminal/CliErrors.ts"
import * as CliServices from "./terminal/CliServices.ts"
import * as Worker from "./workers/Worker.ts"

/** The tree of commands. */
export const tachograph = Command.make("tachograph").pipe(
  Command.withDescription("Records what AI agents do: every call to a model provider, verbatim"),
  Command.withSubcommands([
    serve,
    migrate,
    keys,
    audit,
    sessions,
    show,
    calls,
    search,
    usageCommand,
    compare,
    tail,
    storage,
    reindex,
    verify,
    doctor,
    exportCommand,
    importCommand,
    copy,
    backup,
    restore
  ])
)

/** An invalid command line is reported in one line, like any other failure, instead of with the whole help text. */
const presenter: CliOutput.Presenter = {
  present: (event) => (event._tag === "InvalidInvocation" ? Effect.void : CliOutput.defaultPresenter.present(event))
}

const usage = (error: CliError.ShowHelp): UsageError => {
  const [first] = error.errors
  const message = first === undefined ? "" : first.message.replaceAll(/\s*\n\s*/g, " ")
  return new UsageError({ message: `${message} (see ${error.commandPath.join(" ")} --help)` })
}

/** A worker sends its failure to the primary, which reports it once for all workers. */
const report = (message: string) =>
  Worker.assignment === undefined ? Console.error(`tachograph: ${message}`) : Worker.send({ type: "failed", message })

/** Runs a command line. An error has been printed to standard error before the effect fails with it. */
export const run = (args: ReadonlyArray<string>) =>
  Command.runWith(tachograph, { version: packageJson.version })(args).pipe(
    Effect.catchTag("ShowHelp", (error) => (error.errors.length === 0 ? Effect.void : Effect.fail(usage(error)))),
    Effect.tapError((error) =>
      error instanceof UsageError || error instanceof CommandError ? report(error.message) : Effect.void
    ),
    Effect.provide(
      Layer.mergeAll(
        CliServices.layer,
        CliOutput.layerPresenter(presenter),
        CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })
      )
    )
  )
