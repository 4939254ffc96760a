/** What two sessions or two calls are, for people: a column for each. */
import type { EventSummary, Session } from "@tachograph/client/api"
import * as Figures from "./Figures.ts"
import * as Style from "./Style.ts"
import * as Table from "./Table.ts"

/** One of the two. */
type Side = { readonly session: Session } | { readonly call: EventSummary }

type Fact = readonly [name: string, value: string]

const maxCharacters = 40

const named = (names: ReadonlyArray<string | null>): string =>
  Table.printable(Figures.cut(names.filter((name) => name !== null).join(", "), maxCharacters))

const tokens = ({ cache_read_tokens: cached, input_tokens: input, output_tokens: output }: Session | EventSummary) =>
  input === null && output === null
    ? ""
    : `${Figures.integer(input ?? 0)}${Figures.cached(cached)} → ${Figures.integer(output ?? 0)}`

const ofSession = (session: Session): ReadonlyArray<Fact> => [
  ["session", named([session.session])],
  ["agent", named(session.agents)],
  ["version", named(session.agent_versions)],
  ["person", named(session.people)],
  ["model", named(session.models)],
  ["first call (UTC)", Figures.minute(session.first_event_at)],
  ["calls", Figures.integer(session.events)],
  ["errors", Figures.integerOrNone(session.errors)],
  ["tokens", tokens(session)],
  ["cost", Figures.sumCost(session)],
  ["lasted", Figures.lasted(session)]
]

const ofCall = (call: EventSummary): ReadonlyArray<Fact> => [
  ["call", call.event_id],
  ["session", named([call.session])],
  ["agent", named([call.agent])],
  ["version", named([call.agent_version])],
  ["person", named([call.person])],
  ["model", named([call.response_model ?? call.model])],
  ["at (UTC)", Figures.minute(call.occurred_at ?? call.received_at)],
  ["ended", named([call.error_type === null ? call.stop_reason : `failed: ${call.error_type}`])],
  ["tokens", tokens(call)],
  ["cost", Figures.cost(call)],
  ["took", Figures.duration(call.duration_ms)]
]

const factsOf = (side: Side): ReadonlyArray<Fact> => ("session" in side ? ofSession(side.session) : ofCall(side.call))

/** Both are of the same kind. */
export const facts = (before: Side, after: Side): string => {
  const others = factsOf(after)
  const rows = factsOf(before).map(([name, value], index) => [name, value, others[index]![1]])
  return Table.format([["", "A", "B"], ...rows], new Set(), (padded, row, column) =>
    row === 0 || column === 0 ? Style.dim(padded) : padded
  )
}
