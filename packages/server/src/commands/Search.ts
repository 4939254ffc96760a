/** `tachograph search`: where something was said. */
import type { SearchPage } from "@tachograph/client/api"
import * as Effect from "effect/Effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as Filters from "../access/Filters.ts"
import * as Unseen from "../access/Unseen.ts"
import * as Figures from "../terminal/Figures.ts"
import * as Output from "../terminal/Output.ts"
import * as Style from "../terminal/Style.ts"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Table from "../terminal/Table.ts"

type Result = SearchPage["results"][number]

/** Rows that a request asks for at most. */
const pageRows = 100

/** One line of printable text, with the hit marked on a terminal. */
const snippetOf = ({ hit_end, hit_start, snippet }: Result): string => {
  const characters = Array.from(snippet)
  const shown = (from: number, to?: number) =>
    Table.printable(characters.slice(from, to).join("").replaceAll(/\s+/g, " "))
  return shown(0, hit_start) + Style.bold(shown(hit_start, hit_end)) + shown(hit_end)
}

const linesOf = (result: Result): string => {
  const { at, event_id, role, session } = result
  const place = [Figures.minute(at), Table.printable(session), Table.printable(role), event_id].join("  ")
  return `${Style.dim(place)}\n  ${snippetOf(result)}`
}

const examples = [
  { command: 'tachograph search "refund 4711"', description: "Where this was said, the newest first" },
  { command: "tachograph search refund --person ann --after 7d", description: "Said in calls of a person in a week" },
  { command: "tachograph search OrderId --case-sensitive --json", description: "With this spelling, as JSON" }
]

export const search = Command.make(
  "search",
  {
    text: Argument.String("text").pipe(Argument.withDescription("The text, anywhere in what was said")),
    ...Access.flags,
    ...Filters.ofCalls,
    caseSensitive: Flag.Boolean("case-sensitive").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Upper and lower case differ")
    ),
    limit: Filters.limit(20),
    json: Filters.json
  },
  Effect.fnUntraced(function* (flags) {
    const limit = yield* Filters.limitOf(flags.limit)
    const query = {
      ...(yield* Filters.queryOf(flags)),
      q: flags.text,
      case: flags.caseSensitive ? ("sensitive" as const) : undefined
    }
    const write = flags.json ? JSON.stringify : linesOf
    yield* Access.use(flags, Access.reading, (access) =>
      Effect.gen(function* () {
        let cursor: string | undefined
        let damaged = 0
        let left = limit
        // A page that ends early is printed at once.
        do {
          const rows = Math.min(left, pageRows)
          const page: SearchPage = yield* access.read("search", { ...query, limit: rows, cursor })
          for (const result of page.results) yield* Output.print(write(result))
          damaged += page.damaged_events
          left -= page.results.length
          cursor = page.next_cursor ?? undefined
        } while (cursor !== undefined && left > 0)
        if (left === limit) yield* Unseen.explain(access, query, flags.json)
        if (damaged === 0) return
        return yield* new CommandError({
          message: `Events that could not be searched, because they are damaged: ${damaged}`
        })
      })
    )
  })
).pipe(
  Command.withDescription("Find where something was said, in messages and in arguments and results of tools"),
  Command.withExamples(examples)
)
