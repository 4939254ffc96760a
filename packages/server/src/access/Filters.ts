/** Options of commands that are parameters of the contract's queries. */
import { Moment } from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Flag } from "effect/cli"
import { UsageError } from "../terminal/CliErrors.ts"

/** An option with any text. */
export const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional)

/** Filters of calls, and of what is made of them. */
export const names = {
  agent: text("agent", "NAME", "Only of this agent"),
  agentVersion: text("agent-version", "NAME", "Only of this agent version"),
  person: text("person", "ID", "Only of this person"),
  model: text("model", "NAME", "Only of this model")
}

/** `what` completes "Only": "calls that took place". */
export const period = (what: string) => ({
  after: text(
    "after",
    "TIME",
    `Only ${what} then or later: 2026-01-31T10:00:00Z, the first moment of 2026-01-31, today or yesterday, or 30m, 24h, 7d, 4w ago`
  ),
  before: text("before", "TIME", `Only ${what} before then`)
})

export const session = text("session", "ID", "Only of this session")

/** `what` completes "Only": "calls". */
export const receipt = (what: string) => ({
  receivedAfter: text(
    "received-after",
    "TIME",
    `Only ${what} that were received then or later, whenever they took place`
  ),
  receivedBefore: text("received-before", "TIME", `Only ${what} that were received before then`)
})

/** Filters of lists of single calls. */
export const ofCalls = { ...names, ...period("calls that took place"), ...receipt("calls"), session }

/** `what` completes "Only". */
export const errors = (what: string) => Flag.Boolean("errors").pipe(Flag.withDescription(`Only ${what}`), Flag.optional)

export const failure = text(
  "failure",
  "NAME",
  "Only calls that failed so, as `tachograph failures` names it: 429/rate_limit_error/-"
)

/** For commands that print single calls. */
export const failedCalls = errors("calls that failed; --no-errors: only the others")

/** By what rows are sorted, and in which order. */
export const sort = <const Sorts extends ReadonlyArray<string>>(sorts: Sorts, unsorted: string) => ({
  sort: Flag.Literals("sort", sorts).pipe(
    Flag.withDescription(`The highest first of one of these; ${unsorted} without it`),
    Flag.optional
  )
})

export const order = {
  order: Flag.Literals("order", ["asc", "desc"]).pipe(
    Flag.withDescription("asc: the lowest first, or the oldest"),
    Flag.optional
  )
}

/** The parameters of a sort. */
export const sortOf = <Sort extends string>(given: {
  readonly sort: Option.Option<Sort>
  readonly order?: Option.Option<"asc" | "desc">
}) => ({
  sort: Option.getOrUndefined(given.sort),
  order: given.order && Option.getOrUndefined(given.order)
})

export const json = Flag.Boolean("json").pipe(
  Flag.withDefault(false),
  Flag.withDescription("Print one JSON object a line")
)

/** Rows that a command prints at most. */
export const limit = (defaultRows: number) =>
  Flag.String("limit").pipe(
    Flag.withMetavar("COUNT"),
    Flag.withDescription(`How many to print; default ${defaultRows}`),
    Flag.withDefault(String(defaultRows))
  )

type Names = { readonly [Name in keyof typeof names]: Option.Option<string> }
type Period = { readonly after: Option.Option<string>; readonly before: Option.Option<string> }
type Receipt = { readonly receivedAfter?: Option.Option<string>; readonly receivedBefore?: Option.Option<string> }
type Session = { readonly session?: Option.Option<string> }

/** Of days. Undefined where the command has no such option. */
type Zone = { readonly timeZone?: Option.Option<string> }

/** What no zone has as its name is for the server to refuse. */
const zoneOf = ({ timeZone }: Zone): string | undefined =>
  timeZone && Option.getOrUndefined(Option.filter(timeZone, (name) => Option.isSome(DateTime.zoneMakeNamed(name))))

const timeOf = Effect.fnUntraced(function* (name: string, given: Option.Option<string> | undefined, zone?: string) {
  if (given === undefined || Option.isNone(given)) return undefined
  const time = Moment.parse(given.value)
  if (Option.isNone(time)) {
    return yield* new UsageError({
      message: `--${name} is ${JSON.stringify(given.value)}: expected ${Moment.expected}`
    })
  }
  return DateTime.formatIso(time.value(yield* DateTime.now).in(zone))
})

/** The parameters of a period. */
export const periodOf = Effect.fnUntraced(function* (given: Period & Zone) {
  const zone = zoneOf(given)
  return { after: yield* timeOf("after", given.after, zone), before: yield* timeOf("before", given.before, zone) }
})

/** The parameters of a query. */
export const queryOf = Effect.fnUntraced(function* (given: Names & Period & Receipt & Session & Zone) {
  return {
    agent: Option.getOrUndefined(given.agent),
    agent_version: Option.getOrUndefined(given.agentVersion),
    person: Option.getOrUndefined(given.person),
    model: Option.getOrUndefined(given.model),
    session: given.session && Option.getOrUndefined(given.session),
    ...(yield* periodOf(given)),
    received_after: yield* timeOf("received-after", given.receivedAfter),
    received_before: yield* timeOf("received-before", given.receivedBefore)
  }
})

export const limitOf = (given: string) =>
  /^[1-9]\d{0,8}$/.test(given)
    ? Effect.succeed(Number(given))
    : Effect.fail(new UsageError({ message: `--limit is ${JSON.stringify(given)}: expected a number from 1` }))
