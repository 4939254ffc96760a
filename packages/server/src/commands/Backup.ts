/** `tachograph backup`: copies a SQLite storage while servers record into it. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { Argument, Command } from "effect/cli"
import { resolve } from "node:path"
import * as Backup from "../backup/Backup.ts"
import * as FileOf from "../backup/FileOf.ts"
import * as StorageSetting from "../config/StorageSetting.ts"
import * as Progress from "../terminal/Progress.ts"

const examples = [
  { command: "tachograph backup /mnt/backups/monday.db", description: "Back ./tachograph.db up" },
  {
    command: "tachograph backup --storage sqlite:/var/lib/tachograph/tachograph.db /mnt/backups/monday.db",
    description: "Back up the storage of a server, which goes on recording"
  }
]

export const backup = Command.make(
  "backup",
  {
    storage: StorageSetting.persistentSetting.flag,
    path: Argument.String("PATH").pipe(Argument.withDescription("The file to make; it must not exist"))
  },
  Effect.fnUntraced(function* (flags) {
    const choice = yield* StorageSetting.setting.resolve(flags.storage)
    const file = yield* FileOf.choice(choice, "back up")
    const state = { text: "" }
    const progress = yield* Progress.make(() => state.text)
    const made = yield* Backup.make(choice, file, resolve(flags.path), state)
    yield* Effect.andThen(progress.clear, Console.log(made))
  }, Effect.scoped)
).pipe(
  Command.withShortDescription("Copy a SQLite storage while servers record into it"),
  Command.withDescription(
    [
      "Copy a SQLite storage while servers record into it.",
      "The copy has every event that was acknowledged before it began, and the hashes of all API keys. It is one file of mode 0600, is checked",
      "as tachograph verify does, and gets its name when it is whole. Exit codes: 0 it is there, 1 it is not.",
      "tachograph restore puts it back; docs/operate.md says more."
    ].join("\n\n  ")
  ),
  Command.withExamples(examples)
)
