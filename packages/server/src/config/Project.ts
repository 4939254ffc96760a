/** The projects that `--project` selects. */
import { type Errors, ProjectId, Storage } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Table from "../terminal/Table.ts"
import * as Setting from "./Setting.ts"

/** `defaultName` is undefined if the option selects from all projects. */
export const setting = (description: string, defaultName?: string) =>
  Setting.make({
    name: "project",
    metavar: "NAME",
    description,
    default: defaultName,
    expected: "a name of 1 to 255 characters",
    parse: Schema.decodeUnknownOption(ProjectId)
  })

/** The selected project, or all of them in the order of their names. Fails if the selected one does not exist. */
export const select = Effect.fnUntraced(function* (
  selected: Option.Option<ProjectId>
): Effect.fn.Return<ReadonlyArray<ProjectId>, CommandError | Errors.StorageUnavailable, Storage> {
  const all = yield* Effect.flatMap(Storage, ({ listProjects }) => listProjects)
  if (Option.isNone(selected)) return [...all].sort()
  if (all.includes(selected.value)) return [selected.value]
  return yield* new CommandError({ message: `There is no project ${Table.quoted(selected.value)}` })
})
