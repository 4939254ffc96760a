/** `tachograph restore`: puts a backup in the place of a SQLite storage. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { Argument, Command } from "effect/cli"
import { resolve } from "node:path"
import * as FileOf from "../backup/FileOf.ts"
import * as Restore from "../backup/Restore.ts"
import * as StorageSetting from "../config/StorageSetting.ts"
import * as Progress from "../terminal/Progress.ts"

const examples = [
  {
    command: "tachograph restore /mnt/backups/monday.db",
    description: "Restore to ./tachograph.db, while no server runs"
  }
]

export const restore = Command.make(
  "restore",
  {
    storage: StorageSetting.persistentSetting.flag,
    path: Argument.String("PATH").pipe(Argument.withDescription("The backup; it is only read"))
  },
  Effect.fnUntraced(function* (flags) {
    const file = yield* FileOf.choice(yield* StorageSetting.setting.resolve(flags.storage), "restore")
    const state = { text: "" }
    const progress = yield* Progress.make(() => state.text)
    const restored = yield* Restore.restore(resolve(flags.path), file, state)
    yield* Effect.andThen(progress.clear, Console.log(restored))
  }, Effect.scoped)
).pipe(
  Command.withShortDescription("Put a backup in the place of a SQLite storage"),
  Command.withDescription(
    [
      "Put a backup in the place of a SQLite storage, after checking it. Stop the server first.",
      "Refuses, and changes nothing, where events would be lost: if the storage has some that the backup does not have, if anything has it open,",
      "or if the backup is damaged, of a later version or of another program. A file that was there is moved aside, never deleted.",
      "What was erased, and which keys were revoked, after the backup was made, comes back with it: erase and revoke it again."
    ].join("\n\n  ")
  ),
  Command.withExamples(examples)
)
