/** `tachograph copy`: from one storage to another. */
import { defaultProject } from "@tachograph/core"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Argument, Command, Flag } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as CopyKeys from "../access/CopyKeys.ts"
import { LineCutter } from "../access/LineCutter.ts"
import * as Transfer from "../access/Transfer.ts"
import * as Project from "../config/Project.ts"
import * as TransferProgress from "../terminal/TransferProgress.ts"
import { summarise } from "./Import.ts"

const withKeys = Flag.Boolean("with-keys").pipe(
  Flag.withDefault(false),
  Flag.withDescription("Also copy the API keys of the project, as hashes: the same keys are taken there")
)

const project = Project.setting("The project to copy", defaultProject)

export const copy = Command.make(
  "copy",
  { project: project.flag, withKeys, from: Argument.String("FROM"), to: Argument.String("TO") },
  Effect.fnUntraced(function* (flags) {
    const name = yield* project.resolve(flags.project)
    const counts = Transfer.noCounts()
    yield* Access.useStorage(Option.some(flags.from), name, Access.reading, (from) =>
      Access.useStorage(Option.some(flags.to), name, Access.importing, (to) =>
        Effect.gen(function* () {
          const total = yield* Transfer.totalOf(from)
          const cutter = new LineCutter()
          const progress = yield* TransferProgress.make(() => ({
            events: cutter.events,
            part: total && cutter.events / total
          }))
          const lines = Stream.tap(Transfer.exported(from, {}, cutter), ({ length }) =>
            Effect.sync(() => progress.read(length))
          )
          yield* Transfer.imported(to, lines, counts, (refused) =>
            Effect.andThen(progress.clear, Console.error(refused))
          )
          yield* progress.clear
          yield* summarise(counts, progress.text())
        })
      )
    )
    const keys = yield* CopyKeys.read(flags.from, name)
    if (flags.withKeys) {
      const changed = yield* CopyKeys.write(flags.to, keys)
      yield* Console.error(`Copied ${changed} of ${keys.length} API keys; the others were there already`)
    } else if (keys.length > 0) {
      yield* Console.error(`API keys were left out (${keys.length} in ${name}): --with-keys copies them too`)
    }
  })
).pipe(
  Command.withDescription(
    "Copy a project from one storage to another, with the same ids; run again, it copies what is missing"
  ),
  Command.withExamples([
    {
      command: "tachograph copy sqlite:tachograph.db postgres://localhost/tachograph",
      description: "From SQLite to Postgres"
    }
  ])
)
