/** `tachograph migrate`: brings a storage's tables up to date, for a deploy step of its own. */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import * as StorageChoice from "../config/StorageChoice.ts"

export const migrate = Command.make(
  "migrate",
  { storage: StorageChoice.setting.flag },
  Effect.fnUntraced(function* (flags) {
    const choice = yield* StorageChoice.setting.resolve(flags.storage)
    const ran = yield* choice.migrate
    yield* Console.log(ran.length === 0 ? "The tables are up to date" : `Ran ${ran.join(", ")}`)
  })
).pipe(Command.withDescription("Bring the storage's tables up to date (serve does it too)"))
