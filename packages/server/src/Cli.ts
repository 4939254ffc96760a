/** The command `tachograph`. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CliConfig, type CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import packageJson from "../package.json" with { type: "json" }
import { serve } from "./commands/Serve.ts"
import * as Setting from "./config/Setting.ts"
import { CommandError, UsageError } from "./terminal/CliErrors.ts"
import * as CliServices from "./terminal/CliServices.ts"
import * as Worker from "./workers/Worker.ts"

/** What serves needs no other command, and would keep all of them in its memory. They say which variable a misspelt one may be. */
const treeFor = ([first]: ReadonlyArray<string>) =>
  first === "serve" && Setting.misspelt(process.env).length === 0
    ? Effect.succeed(Command.withSubcommands(Command.make("tachograph"), [serve]))
    : Effect.promise(async () => (await import("./Commands.ts")).tachograph)

/** An invalid command line is reported in one line, like any other failure, instead of with the whole help text. */
const presenter: CliOutput.Presenter = {
  present: (event) => (event._tag === "InvalidInvocation" ? Effect.void : CliOutput.defaultPresenter.present(event))
}

const usage = (error: CliError.ShowHelp): UsageError => {
  const [first] = error.errors
  const message = first === undefined ? "" : first.message.replaceAll(/\s*\n\s*/g, " ")
  return new UsageError({ message: `${message} (see ${error.commandPath.join(" ")} --help)` })
}

/** Behind a command, `--version` is meant for the version of an agent. The global flag would print that of the program instead. */
const hasMisplacedVersion = ([first, ...rest]: ReadonlyArray<string>): boolean => {
  const end = rest.indexOf("--")
  const flags = end === -1 ? rest : rest.slice(0, end)
  return first?.startsWith("-") === false && flags.some((arg) => arg.split("=")[0] === "--version")
}

const misplacedVersion = new UsageError({
  message: "--version is of tachograph without a command: --agent-version names the version of an agent"
})

/** A worker sends its failure to the primary, which reports it once for all workers. */
const report = (message: string) =>
  Worker.assignment === undefined ? Console.error(`tachograph: ${message}`) : Worker.send({ type: "failed", message })

/** Runs a command line. An error has been printed to standard error before the effect fails with it. */
export const run = (args: ReadonlyArray<string>) =>
  Effect.flatMap(hasMisplacedVersion(args) ? Effect.fail(misplacedVersion) : treeFor(args), (tree) =>
    Command.runWith(tree, { version: packageJson.version })(args)
  ).pipe(
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
