/** `tachograph migrate`: runs the storage's migrations, for deployments that migrate in a separate step. */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as StorageSetting from "../config/StorageSetting.ts"

export const migrate = Command.make(
  "migrate",
  { storage: StorageSetting.setting.flag },
  Effect.fnUntraced(function* (flags) {
    const choice = yield* StorageSetting.setting.resolve(flags.storage)
    const migrations = yield* choice.migrate
    yield* Console.log(migrations.length === 0 ? "The tables are up to date" : `Ran ${migrations.join(", ")}`)
  })
).pipe(Command.withDescription("Bring the storage's tables up to date (serve does so too)"))
