/** What the two are, in a column each. */
import type { ComponentChildren } from "preact"
import { Ending } from "../../parts/CallCells.tsx"
import { CallCost, SumCost } from "../../parts/Costs.tsx"
import { Duration, Time, Tokens } from "../../parts/Facts.tsx"
import { FailedCount } from "../../parts/Failures.tsx"
import { Link } from "../../parts/Link.tsx"
import { Table } from "../../parts/Table.tsx"
import * as Route from "../../route/Route.ts"
import type { EventSummary, Session } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"
import type { Side } from "./useSide.ts"

interface Fact {
  readonly name: string
  /** Each with what makes two of them the same. */
  readonly of: (side: Side) => readonly [key: unknown, shown: ComponentChildren]
}

const names = (values: ReadonlyArray<string | null>): readonly [string, ComponentChildren] => {
  const text = values.filter((value) => value !== null).join(", ")
  return [text, text === "" ? "–" : <Plain text={text} />]
}

const tokens = (of: Session | EventSummary): readonly [string, ComponentChildren] => [
  `${of.input_tokens} ${of.cache_read_tokens} ${of.output_tokens}`,
  <Tokens input={of.input_tokens} cached={of.cache_read_tokens} output={of.output_tokens} />
]

const lastedMs = ({ first_event_at, last_event_at }: Session) => Date.parse(last_event_at) - Date.parse(first_event_at)

const ofSessions: Readonly<Record<string, (session: Session) => readonly [unknown, ComponentChildren]>> = {
  Agent: ({ agents }) => names(agents),
  Version: ({ agent_versions }) => names(agent_versions),
  Person: ({ people }) => names(people),
  Model: ({ models }) => names(models),
  "First call": ({ first_event_at: at }) => [at, <Time at={at} />],
  Calls: ({ events }) => [events, Format.count(events)],
  Failed: ({ errors, session }) => [
    errors,
    errors === 0 ? 0 : <FailedCount count={errors} to={Route.to(["failures"], { session })} />
  ],
  Tokens: tokens,
  Cost: (session) => [session.cost_usd, <SumCost of={session} />],
  Lasted: (session) => [lastedMs(session), Format.duration(lastedMs(session))]
}

const ofCalls: Readonly<Record<string, (call: EventSummary) => readonly [unknown, ComponentChildren]>> = {
  Session: ({ session }) => [session, <Link to={Route.to(["sessions", session])} text={Words.line(session, 60)} />],
  Agent: ({ agent }) => names([agent]),
  Version: ({ agent_version }) => names([agent_version]),
  Person: ({ person }) => names([person]),
  Model: ({ model, response_model }) => names([response_model ?? model]),
  At: ({ occurred_at, received_at }) => [occurred_at ?? received_at, <Time at={occurred_at ?? received_at} />],
  Ended: ({ error_type, stop_reason }) =>
    error_type === null
      ? [stop_reason, <Ending reason={stop_reason} />]
      : [error_type, <Plain as="span" class="bad" text={error_type} />],
  Tokens: tokens,
  Cost: (call) => [call.cost_usd, <CallCost call={call} />],
  Took: ({ duration_ms }) => [duration_ms, <Duration ms={duration_ms} />]
}

const facts = ({ call }: Side): ReadonlyArray<Fact> =>
  call === undefined
    ? Object.entries(ofSessions).map(([name, of]) => ({ name, of: ({ session }) => of(session!) }))
    : Object.entries(ofCalls).map(([name, of]) => ({ name, of: ({ call }) => of(call!) }))

/** Its name, which leads to it. */
const Name = ({ of: { call, session } }: { readonly of: Side }) =>
  call === undefined ? (
    <Link to={Route.to(["sessions", session!.session])} text={Words.title(session!.title ?? session!.session)} />
  ) : (
    <Link to={Route.to(["events", call.event_id])} text={call.event_id} />
  )

export const Facts = ({ after, before }: { readonly before: Side; readonly after: Side }) => (
  <Table
    label="What they are"
    class="sides"
    isNarrow
    columns={[
      { title: "Of each", isHead: true, of: ({ name }) => name },
      {
        title: (
          <>
            <b class="side-name">A</b> <Name of={before} />
          </>
        ),
        of: ({ of }) => of(before)[1]
      },
      {
        title: (
          <>
            <b class="side-name">B</b> <Name of={after} />
          </>
        ),
        of: ({ of }) => (of(before)[0] === of(after)[0] ? <span class="soft">the same</span> : of(after)[1])
      }
    ]}
    rows={facts(before)}
    keyOf={({ name }) => name}
  />
)
