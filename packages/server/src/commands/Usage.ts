/** `tachograph usage`: what calls add up to, by time, name or model. */
import { dimensions } from "@tachograph/core"
import type { UsageGroup } from "@tachograph/client/api"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Command, Flag } from "effect/cli"
import * as Access from "../access/Access.ts"
import * as Filters from "../access/Filters.ts"
import * as Unseen from "../access/Unseen.ts"
import * as Figures from "../terminal/Figures.ts"
import * as Output from "../terminal/Output.ts"
import * as Style from "../terminal/Style.ts"
import * as Table from "../terminal/Table.ts"

const headings = ["CALLS", "ERRORS", "TOKENS IN", "OUT", "CACHED", "COST", "UNPRICED", "PARTLY", "P50", "P95", "P99"]
const errorsColumn = 1

const countOrNone = (count: number): string => (count === 0 ? "" : Figures.integer(count))

const figuresOf = (group: UsageGroup): ReadonlyArray<string> => [
  Figures.integer(group.events),
  countOrNone(group.errors),
  Figures.integer(group.input_tokens),
  Figures.integer(group.output_tokens),
  Figures.integer(group.cache_read_tokens),
  Figures.dollars(group.cost_usd),
  countOrNone(group.unpriced_events),
  countOrNone(group.partly_priced_events),
  Figures.duration(group.duration_ms_p50),
  Figures.duration(group.duration_ms_p95),
  Figures.duration(group.duration_ms_p99)
]

type Dimension = (typeof dimensions)[number]

const tableOf = (groupBy: ReadonlyArray<Dimension>, groups: ReadonlyArray<UsageGroup>): string => {
  const rows = groups.map((group) => [
    ...groupBy.map((dimension) => Table.printable(group[dimension] ?? "—")),
    ...figuresOf(group)
  ])
  const heading = [...groupBy.map((dimension) => dimension.replace("_", " ").toUpperCase()), ...headings]
  const rightAligned = new Set(headings.map((_, index) => groupBy.length + index))
  return Table.format([heading, ...rows], rightAligned, (cell, row, column) => {
    if (row === 0) return Style.dim(cell)
    return column === groupBy.length + errorsColumn ? Style.red(cell) : cell
  })
}

const groupBy = Flag.String("by").pipe(
  Flag.withMetavar("GROUPS"),
  Flag.withDescription(
    `One or two of ${dimensions.join(", ")}, with a comma between them; all calls together without it`
  ),
  Flag.optional
)

const timeZone = Flag.String("time-zone").pipe(
  Flag.withMetavar("ZONE"),
  Flag.withDescription("Of days and hours: an IANA name, such as Europe/Berlin; default UTC"),
  Flag.optional
)

const examples = [
  { command: "tachograph usage --by day --after 30d", description: "A month by days" },
  { command: "tachograph usage --by agent,agent_version", description: "What each version of each agent cost" },
  { command: "tachograph usage --by hour --after 24h --time-zone Asia/Kolkata", description: "A day in another zone" }
]

export const usage = Command.make(
  "usage",
  {
    ...Access.flags,
    by: groupBy,
    timeZone,
    ...Filters.names,
    ...Filters.period("calls that took place"),
    limit: Filters.limit(100),
    json: Filters.json
  },
  Effect.fnUntraced(function* (flags) {
    const limit = yield* Filters.limitOf(flags.limit)
    const query = {
      ...(yield* Filters.queryOf(flags)),
      group_by: Option.getOrUndefined(flags.by),
      time_zone: Option.getOrUndefined(flags.timeZone)
    }
    yield* Access.use(flags, Access.reading, (access) =>
      Effect.gen(function* () {
        const groups = yield* access.list("readUsage", query, limit)
        const names = (query.group_by?.split(",") ?? []) as ReadonlyArray<Dimension>
        if (groups.length === 0) yield* Unseen.explain(access, query, flags.json)
        else if (flags.json) for (const group of groups) yield* Output.print(JSON.stringify(group))
        else yield* Output.print(tableOf(names, groups))
      })
    )
  })
).pipe(Command.withDescription("Add up calls, tokens and cost"), Command.withExamples(examples))
