/** `tachograph usage`: what calls add up to, by time, name or model. */
import { dimensions, sorts } from "@tachograph/core"
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

type Column = Table.Column<UsageGroup>

const figures: ReadonlyArray<Column> = [
  Table.number("SESSIONS", ({ sessions }) => Figures.integerOrUnknown(sessions)),
  Table.number("CALLS", ({ events }) => Figures.integer(events)),
  Table.number("ERRORS", ({ errors }) => Figures.integerOrNone(errors), { paint: Style.red }),
  Table.number("TOKENS IN", ({ input_tokens }) => Figures.integer(input_tokens)),
  Table.number("OUT", ({ output_tokens }) => Figures.integer(output_tokens)),
  Table.number("CACHED", ({ cache_read_tokens }) => Figures.integer(cache_read_tokens)),
  Table.number("COST", Figures.sumCost),
  Table.number("PER SESSION", Figures.sessionCost("mean")),
  Table.number("MEDIAN", Figures.sessionCost("median")),
  Table.number("95 %", Figures.sessionCost("p95")),
  Table.number("UNPRICED", ({ unpriced_events }) => Figures.integerOrNone(unpriced_events)),
  Table.number("PARTLY", ({ partly_priced_events }) => Figures.integerOrNone(partly_priced_events)),
  Table.number("P50", ({ duration_ms_p50 }) => Figures.duration(duration_ms_p50)),
  Table.number("P95", ({ duration_ms_p95 }) => Figures.duration(duration_ms_p95)),
  Table.number("P99", ({ duration_ms_p99 }) => Figures.duration(duration_ms_p99))
]

type Dimension = (typeof dimensions)[number]

const nameOf = (dimension: Dimension): Column => ({
  title: dimension.replace("_", " ").toUpperCase(),
  of: (group) => Table.printable(group[dimension] ?? "—")
})

/** The total is a row below the groups, with its name in the first column. */
const tableOf = (names: ReadonlyArray<Dimension>, groups: ReadonlyArray<UsageGroup>, total: UsageGroup | null) => {
  const [first, ...others] = names
  const named = first === undefined ? undefined : nameOf(first)
  const columns =
    named === undefined ? [] : [{ ...named, of: (row: UsageGroup) => (row === total ? "total" : named.of(row)) }]
  const rest = others
    .map(nameOf)
    .map((column) => ({ ...column, of: (row: UsageGroup) => (row === total ? "" : column.of(row)) }))
  return Table.ofColumns([...columns, ...rest, ...figures], total === null ? groups : [...groups, total])
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
  {
    command: "tachograph usage --by agent,agent_version --sort cost",
    description: "What each version of each agent cost, in all and per session"
  },
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
    ...Filters.sort(sorts, "in the order of their names or times"),
    ...Filters.order,
    limit: Filters.limit(100),
    json: Filters.json
  },
  Effect.fnUntraced(function* (flags) {
    const limit = yield* Filters.limitOf(flags.limit)
    const query = {
      ...(yield* Filters.queryOf(flags)),
      time_zone: Option.getOrUndefined(flags.timeZone),
      group_by: Option.getOrUndefined(flags.by),
      ...Filters.sortOf(flags)
    }
    yield* Access.use(flags, Access.reading, (access) =>
      Effect.gen(function* () {
        const { next_cursor: cursor, ...first } = yield* access.read("readUsage", {
          ...query,
          limit: Math.min(Access.maxPage, limit)
        })
        const left = cursor === null ? 0 : limit - first.usage.length
        const others = left === 0 ? [] : yield* access.list("readUsage", { ...query, cursor: cursor! }, left)
        const groups = [...first.usage, ...others]
        const names = (query.group_by?.split(",") ?? []) as ReadonlyArray<Dimension>
        if (groups.length === 0) yield* Unseen.explain(access, query, flags.json)
        else {
          const total = names.length === 0 ? null : first.total
          if (flags.json) {
            for (const group of groups) yield* Output.print(JSON.stringify(group))
            if (total !== null) yield* Output.print(JSON.stringify({ total }))
          } else yield* Output.print(tableOf(names, groups, total))
        }
      })
    )
  })
).pipe(
  Command.withDescription("Add up sessions, calls, tokens and cost, in groups and in total"),
  Command.withExamples(examples)
)
