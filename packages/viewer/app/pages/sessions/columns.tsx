/** What the list says of a session. */
import { Fragment } from "preact"
import { Name } from "../../parts/CallCells.tsx"
import { Colored } from "../../parts/Colored.tsx"
import { sumColumn } from "../../parts/Costs.tsx"
import { Time, Tokens } from "../../parts/Facts.tsx"
import { CallsOf, SessionTitle } from "../../parts/SessionCells.tsx"
import type * as Sorting from "../../parts/Sorting.tsx"
import { type Column, number } from "../../parts/Table.tsx"
import * as Route from "../../route/Route.ts"
import type { Session } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"

/** A session is live if its last call is no older (ms), or no further ahead by the clock of its client. */
const liveMs = 60_000

const isLive = ({ last_event_at }: Session, now: number) => Math.abs(now - Date.parse(last_event_at)) < liveMs

/** The figure of a list that is sorted: a session that moves in it is another row. */
export const figureOf = (session: Session, sort: Sorting.Sort): string => {
  switch (sort) {
    case "cost":
      return String(session.cost_usd)
    case "calls":
      return String(session.events)
    case "tokens":
      return String(session.input_tokens + session.output_tokens)
    case "errors":
      return String(session.errors)
    case "duration":
      return String(lasted(session))
    case "last":
      return session.last_event_at
  }
}

const lasted = ({ first_event_at, last_event_at }: Session) => Date.parse(last_event_at) - Date.parse(first_event_at)

const Names = ({ names }: { readonly names: ReadonlyArray<string> }) => (
  <>
    {names.map((name) => (
      <Fragment key={name}>
        <Colored name={name}>
          <Name text={name} />
        </Colored>{" "}
      </Fragment>
    ))}
  </>
)

export const columnsOf = (now: number, peek: (session: string) => void): ReadonlyArray<Column<Session>> => [
  {
    title: "Conversation",
    class: "title",
    of: (session) => (
      <>
        <SessionTitle session={session} to={Route.to(["sessions", session.session])}>
          {isLive(session, now) && (
            <span class="live" role="img" aria-label="Live" title="A call within the last minute" />
          )}
        </SessionTitle>
        <button
          type="button"
          class="quiet peek-at"
          onClick={() => peek(session.session)}
          aria-label="Preview"
          title="Preview (o)"
        >
          ⇥
        </button>
      </>
    )
  },
  {
    title: "Agent",
    class: "agent",
    of: ({ agent_versions, agents, people }) => (
      <>
        <Names names={agents} />
        <small>
          <Names names={agent_versions} />
          {agent_versions.length > 0 && people.length > 0 && " · "}
          <Name text={people.join(", ")} />
        </small>
      </>
    )
  },
  number(
    "Calls",
    (session) => <CallsOf session={session} failures={Route.to(["failures"], { session: session.session })} />,
    undefined,
    "calls"
  ),
  number(
    "Tokens",
    (session) => (
      <>
        <Tokens input={session.input_tokens} cached={session.cache_read_tokens} output={session.output_tokens} />
        <small>
          <Names names={session.models} />
        </small>
      </>
    ),
    undefined,
    "tokens"
  ),
  sumColumn,
  number(
    "Repeated",
    ({ new_bytes, sent_bytes }) => (
      <span title={`${Format.bytes(sent_bytes)} recorded, ${Format.bytes(new_bytes)} of them for the first time`}>
        {Format.percent(sent_bytes - new_bytes, sent_bytes)}
      </span>
    ),
    "The part of all bytes of requests and answers that had been recorded before"
  ),
  number(
    "Last call",
    (session) => (
      <>
        <Time at={session.last_event_at} />
        {session.events > 1 && (
          <small title="From the first call to the last, as they were recorded">
            over {Format.duration(lasted(session))}
          </small>
        )}
      </>
    ),
    undefined,
    "last"
  )
]
