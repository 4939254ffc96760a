/** `tachograph export`: all that a project has, as lines of JSON. */
import type { Operations } from "@tachograph/client/api"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Command, Flag } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as Filters from "../access/Filters.ts"
import { LineCutter } from "../access/LineCutter.ts"
import * as Transfer from "../access/Transfer.ts"
import * as Unseen from "../access/Unseen.ts"
import * as LineFile from "../terminal/LineFile.ts"
import * as Figures from "../terminal/Figures.ts"
import * as TransferProgress from "../terminal/TransferProgress.ts"

const examples = [
  { command: "tachograph export --output project.ndjson", description: "Everything; again, what is missing or new" },
  { command: "tachograph export --person ann", description: "All that there is of a person, on standard output" },
  {
    command: "tachograph export --url https://tachograph.example.com --after 24h | gzip > day.ndjson.gz",
    description: "The last day of a server, with the key in TACHOGRAPH_API_KEY"
  }
]

const output = Flag.String("output").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription("Write to a file; one that exists is continued after its last settled event"),
  Flag.optional
)

export const exportCommand = Command.make(
  "export",
  {
    ...Access.flags,
    ...Filters.names,
    ...Filters.period("calls that took place"),
    ...Filters.receipt("events"),
    session: Filters.session,
    output
  },
  Effect.fnUntraced(function* (flags) {
    const filters: Operations["export"]["input"] = yield* Filters.queryOf(flags)
    yield* Access.use(flags, Access.reading, (access) =>
      Effect.gen(function* () {
        const file = yield* LineFile.open(Option.getOrUndefined(flags.output))
        const cutter = new LineCutter()
        const isAll = file.lastEvent === undefined && Object.values(filters).every((value) => value === undefined)
        const total = isAll ? yield* Transfer.totalOf(access) : undefined
        const progress = yield* TransferProgress.make(() => ({
          events: cutter.events,
          part: total && cutter.events / total
        }))
        yield* Stream.runForEach(
          Transfer.exported(access, { ...filters, after_event: file.lastEvent }, cutter, file.back),
          (lines) =>
            Effect.andThen(
              file.write(lines),
              Effect.sync(() => progress.read(lines.length))
            )
        )
        yield* progress.clear
        if (cutter.events === 0) yield* Unseen.warn(access, { ...filters })
        if (cutter.damaged > 0) {
          yield* Console.error(`${Figures.integer(cutter.damaged)} events are damaged: \`tachograph verify\` says why`)
        }
        if (Option.isSome(flags.output)) yield* Console.error(`Exported ${progress.text()}`)
      })
    )
  })
).pipe(
  Command.withDescription("Write all that a project has, or some of it, as lines of JSON"),
  Command.withExamples(examples)
)
