/** `tachograph migrate`: runs the storage's migrations, for deployments that migrate in a separate step. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { Command, Flag } from "effect/cli"
import { CommandError, UsageError } from "../terminal/CliErrors.ts"
import * as StorageSetting from "../config/StorageSetting.ts"

const distribute = Flag.Boolean("distribute").pipe(
  Flag.withDefault(false),
  Flag.withDescription("Also distribute the tables over the nodes of a Postgres with the extension Citus, once")
)

const dryRun = Flag.Boolean("dry-run").pipe(
  Flag.withDefault(false),
  Flag.withDescription("Only print which migrations would run; change and create nothing")
)

const printMigrations = (migrations: ReadonlyArray<string>) =>
  Console.log(migrations.length === 0 ? "The tables are up to date" : `Ran ${migrations.join(", ")}`)

export const migrate = Command.make(
  "migrate",
  { storage: StorageSetting.setting.flag, distribute, dryRun },
  Effect.fnUntraced(function* (flags) {
    const choice = yield* StorageSetting.setting.resolve(flags.storage)
    if (flags.dryRun) {
      if (flags.distribute)
        return yield* new UsageError({ message: "--dry-run lists migrations only: without --distribute" })
      if (!choice.exists()) yield* Console.error(`The storage does not exist (${choice.label}): it would be created`)
      const pending = yield* choice.pending
      return yield* Console.log(pending.length === 0 ? "The tables are up to date" : `Would run ${pending.join(", ")}`)
    }
    if (!flags.distribute) return yield* printMigrations(yield* choice.migrate)
    if (choice.distribute === undefined) {
      const message = "Only a Postgres with the extension Citus can be distributed: --storage postgres://…"
      return yield* new CommandError({ message })
    }
    const { isNew, migrations, shards } = yield* choice.distribute
    yield* printMigrations(migrations)
    yield* Console.log(
      `${isNew ? "Distributed the tables" : "The tables are distributed already"}, in ${shards} shards`
    )
  })
).pipe(Command.withDescription("Bring the storage's tables up to date (serve does so too)"))
