/** `tachograph search`: where something was said. */
import type { Operations, SearchedSession, SearchPage } from "@tachograph/client/api"
import { roles } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Argument, Command, Flag } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as Filters from "../access/Filters.ts"
import * as Unseen from "../access/Unseen.ts"
import * as Figures from "../terminal/Figures.ts"
import * as Output from "../terminal/Output.ts"
import * as Style from "../terminal/Style.ts"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Table from "../terminal/Table.ts"

type Hit = SearchPage["results"][number]
type Query = Operations["search"]["input"]

/** Rows that a request asks for at most. */
const pageRows = 100

/** One line of printable text, with the hit marked on a terminal. */
const snippetOf = ({ hit_end, hit_start, snippet }: Hit): string => {
  const characters = Array.from(snippet)
  const shown = (from: number, to?: number) =>
    Table.printable(characters.slice(from, to).join("").replaceAll(/\s+/g, " "))
  return shown(0, hit_start) + Style.bold(shown(hit_start, hit_end)) + shown(hit_end)
}

const linesOf = (found: SearchedSession): string => {
  const { at, event_id, hits, role, session } = found
  const place = [
    Figures.minute(at),
    Table.printable(session),
    Table.printable(role),
    event_id,
    Figures.counted(hits, "hit")
  ]
  return `${Style.dim(place.join("  "))}\n  ${snippetOf(found)}`
}

/** What a search has found, and how many events it could not read. */
interface Found {
  readonly rows: number
  readonly damaged: number
}

/** Prints each hit as it is found. */
const printHits = Effect.fnUntraced(function* (access: Access.Access, query: Query, limit: number) {
  let cursor: string | undefined
  let damaged = 0
  let rows = 0
  do {
    const page: SearchPage = yield* access.read("search", { ...query, limit: Math.min(limit - rows, pageRows), cursor })
    for (const result of page.results) yield* Output.print(JSON.stringify(result))
    damaged += page.damaged_events
    rows += page.results.length
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && rows < limit)
  return { rows, damaged } satisfies Found
})

/** Prints sessions when so many are known, each with its newest hit: more hits of a session may be found with older calls. */
const printSessions = Effect.fnUntraced(function* (access: Access.Access, query: Query, limit: number) {
  const sessions = new Map<string, SearchedSession>()
  let cursor: string | undefined
  let damaged = 0
  do {
    const rows = Math.min(limit - sessions.size, pageRows)
    const page: Operations["searchSessions"]["answer"] = yield* access.read("searchSessions", {
      ...query,
      limit: rows,
      cursor
    })
    for (const row of page.sessions) {
      const known = sessions.get(row.session)
      sessions.set(row.session, known === undefined ? row : { ...known, hits: known.hits + row.hits })
    }
    damaged += page.damaged_events
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && sessions.size < limit)
  const found = Array.from(sessions.values())
  for (const each of found) yield* Output.print(linesOf(each))
  if (found.length > 0) {
    const hits = found.reduce((sum, each) => sum + each.hits, 0)
    const more = cursor === undefined ? "" : " so far: --limit finds more"
    yield* Output.print(
      Style.dim(`${Figures.counted(hits, "hit")} in ${Figures.counted(found.length, "session")}${more}`)
    )
  }
  return { rows: found.length, damaged } satisfies Found
})

const examples = [
  { command: 'tachograph search "refund 4711"', description: "The sessions in which this was said, the newest first" },
  { command: "tachograph search refund --role user --after 7d", description: "Said by a person in a week" },
  { command: 'tachograph search "never refund" --role system', description: "In instructions" },
  { command: "tachograph search OrderId --case-sensitive --json", description: "Each hit with this spelling, as JSON" }
]

export const search = Command.make(
  "search",
  {
    text: Argument.String("text").pipe(Argument.withDescription("The text, anywhere in what was said")),
    ...Access.flags,
    role: Filters.text(
      "role",
      "ROLES",
      `Only said by these: ${roles.join(", ")}, with commas between them, or any; default: all but system`
    ),
    ...Filters.ofCalls,
    caseSensitive: Flag.Boolean("case-sensitive").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Upper and lower case differ")
    ),
    limit: Filters.limit(20),
    json: Flag.Boolean("json").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Print each hit as one JSON object a line, and not one row a session")
    )
  },
  Effect.fnUntraced(function* (flags) {
    const limit = yield* Filters.limitOf(flags.limit)
    const query = {
      ...(yield* Filters.queryOf(flags)),
      q: flags.text,
      role: Option.getOrUndefined(flags.role),
      case: flags.caseSensitive ? ("sensitive" as const) : undefined
    }
    yield* Access.use(flags, Access.reading, (access) =>
      Effect.gen(function* () {
        const print = flags.json ? printHits : printSessions
        const { damaged, rows } = yield* print(access, query, limit)
        if (rows === 0) yield* Unseen.explain(access, query, flags.json)
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
