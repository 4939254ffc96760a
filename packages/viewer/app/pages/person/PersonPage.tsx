/** `#/people/{id}`: what is known of a person, and their sessions. */
import { useEffect, useState } from "preact/hooks"
import { PageHelp } from "../../help/PageHelp.tsx"
import { Colored } from "../../parts/Colored.tsx"
import { sumColumn, SumNote } from "../../parts/Costs.tsx"
import { Time, Tokens } from "../../parts/Facts.tsx"
import { Value } from "../../parts/message/Value.tsx"
import { Link } from "../../parts/Link.tsx"
import { CallsOf, SessionTitle } from "../../parts/SessionCells.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import { type Column, number, Table } from "../../parts/Table.tsx"
import { UsageTable } from "../../parts/Usage.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import * as Lists from "../../server/Lists.ts"
import type { Session } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import { plain } from "../../text/Hidden.ts"
import { Plain } from "../../text/Plain.tsx"
import { ErasePerson } from "./ErasePerson.tsx"

/** Sessions that the page lists; the link above them leads to all. */
const shownSessions = 10

const read = (id: string) => async (signal: AbortSignal) => {
  const [person, usage, { sessions }] = await Promise.all([
    api.getPerson({ person_id: id }, { signal }),
    Lists.usage({ group_by: "agent", person: id }, signal),
    api.listSessions({ person: id, limit: shownSessions }, { signal })
  ])
  return { person, usage, sessions }
}

export const PersonPage = ({ me, rest }: PageProps) => {
  const id = rest[0]!
  const { again, error, value } = useAnswer(read(id), id)
  const [isErased, setErased] = useState(false)
  useEffect(() => void (document.title = `${plain(id)} · Tachograph`), [id])
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  if (value === undefined) return <Loading what="the person" />
  return (
    <section class="page">
      <div class="page-head">
        <Plain as="h1" text={id} />
        <PageHelp />
        <p>
          <a href={Route.to(["sessions"], { person: id })}>Their sessions</a>, known since{" "}
          <Time at={value.person.created_at} />
        </p>
      </div>
      {!isErased && <Known value={value} id={id} />}
      <ErasePerson
        me={me}
        id={id}
        calls={value.usage.total?.events ?? 0}
        sessions={value.usage.total === undefined ? 0 : value.usage.total.sessions}
        onErased={() => setErased(true)}
      />
    </section>
  )
}

interface KnownProps {
  readonly id: string
  readonly value: Awaited<ReturnType<ReturnType<typeof read>>>
}

const Known = ({ id, value }: KnownProps) => (
  <>
    <h2>What their calls add up to</h2>
    <UsageTable
      title="Agent"
      rows={value.usage.rows}
      total={value.usage.total}
      keyOf={({ agent }) => agent ?? ""}
      failuresOf={({ agent }) => Route.to(["failures"], { agent, person: id })}
      nameOf={({ agent }) => (
        <Colored name={agent ?? ""}>
          <Link to={Route.to(["sessions"], { person: id, agent })} text={agent ?? ""} />
        </Colored>
      )}
    />
    <h2>Their latest sessions</h2>
    <SessionsTable sessions={value.sessions} />
    <h2>Properties</h2>
    {Object.keys(value.person.properties).length === 0 ? (
      <p class="hint">None were recorded.</p>
    ) : (
      <div class="fold">
        <Value value={value.person.properties} />
      </div>
    )}
  </>
)

const columns: ReadonlyArray<Column<Session>> = [
  {
    title: "Conversation",
    class: "title",
    of: (session) => <SessionTitle session={session} to={Route.to(["sessions", session.session])} />
  },
  number("Calls", (session) => (
    <CallsOf session={session} failures={Route.to(["failures"], { session: session.session })} />
  )),
  number("Tokens", (session) => (
    <Tokens input={session.input_tokens} cached={session.cache_read_tokens} output={session.output_tokens} />
  )),
  sumColumn,
  number("Last call", ({ last_event_at }) => <Time at={last_event_at} />)
]

const SessionsTable = ({ sessions }: { readonly sessions: ReadonlyArray<Session> }) =>
  sessions.length === 0 ? (
    <p class="hint">There are none.</p>
  ) : (
    <>
      <Table label="Sessions" columns={columns} rows={sessions} keyOf={({ session }) => session} />
      <SumNote of={sessions} />
    </>
  )
