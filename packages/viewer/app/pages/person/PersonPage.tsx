/** `#/people/{id}`: what is known of a person, and their sessions. */
import { useEffect } from "preact/hooks"
import { SumCost } from "../../parts/Costs.tsx"
import { Time, Tokens } from "../../parts/Facts.tsx"
import { Value } from "../../parts/message/Value.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import { UsageTable } from "../../parts/Usage.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import * as Lists from "../../server/Lists.ts"
import type { Session } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Format from "../../text/Format.ts"
import { plain } from "../../text/Hidden.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"

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

export const PersonPage = ({ rest }: PageProps) => {
  const id = rest[0]!
  const { again, error, value } = useAnswer(read(id), id)
  useEffect(() => void (document.title = `${plain(id)} · Tachograph`), [id])
  if (error !== undefined) return <Failed isWhole error={error} again={again} />
  if (value === undefined) return <Loading what="the person" />
  return (
    <section class="page">
      <div class="page-head">
        <h1>
          <Plain text={id} />
        </h1>
        <p>
          <a href={Route.to(["sessions"], { person: id })}>Their sessions</a>, known since{" "}
          <Time at={value.person.created_at} />
        </p>
      </div>
      <h2>What their calls add up to</h2>
      <UsageTable
        title="Agent"
        rows={value.usage}
        keyOf={({ agent }) => agent ?? ""}
        nameOf={({ agent }) => (
          <a href={Route.to(["sessions"], { person: id, agent })}>
            <Plain text={agent ?? ""} />
          </a>
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
    </section>
  )
}

const SessionsTable = ({ sessions }: { readonly sessions: ReadonlyArray<Session> }) => {
  if (sessions.length === 0) return <p class="hint">There are none.</p>
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Sessions">
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">Conversation</th>
            <th scope="col" class="number">
              Calls
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col" class="number">
              Cost
            </th>
            <th scope="col" class="number">
              Last call
            </th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <tr key={session.session}>
              <td class="title">
                <a href={Route.to(["sessions", session.session])}>
                  {session.title === null ? <i>No words of a user</i> : <Plain text={Words.title(session.title)} />}
                </a>
                <small class="id">
                  <Plain text={session.session} />
                </small>
              </td>
              <td class="number">
                {Format.count(session.events)}
                {session.errors > 0 && <small class="bad">{Format.count(session.errors)} failed</small>}
              </td>
              <td class="number">
                <Tokens
                  input={session.input_tokens}
                  cached={session.cache_read_tokens}
                  output={session.output_tokens}
                />
              </td>
              <td class="number">
                <SumCost of={session} />
              </td>
              <td class="number">
                <Time at={session.last_event_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
