/** Which other one is compared, where the place does not say it. */
import { useState } from "preact/hooks"
import { Link } from "../../parts/Link.tsx"
import { SessionTitle } from "../../parts/SessionCells.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import { Time } from "../../parts/Facts.tsx"
import { type Column, number, Table } from "../../parts/Table.tsx"
import * as Route from "../../route/Route.ts"
import { api } from "../../server/Client.ts"
import type { Session } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import { useCall } from "../../server/useCall.ts"
import type { Kind } from "./useSide.ts"

/** Sessions that are offered: the latest of the same agent. */
const offered = 20

const to = (kind: Kind, a: string, b: string): string => Route.to(["diff", kind], { a, b })

const columnsOf = (id: string): ReadonlyArray<Column<Session>> => [
  {
    title: "Conversation",
    class: "title",
    of: (session) => <SessionTitle session={session} to={to("sessions", id, session.session)} />
  },
  number("Last call", ({ last_event_at }) => <Time at={last_event_at} />)
]

const read = (id: string) => async (signal: AbortSignal) => {
  const { agents } = await api.getSession({ session: id }, { signal })
  const agent = agents[0]
  const { sessions } = await api.listSessions({ ...(agent === undefined ? {} : { agent }), limit: offered }, { signal })
  return sessions.filter(({ session }) => session !== id)
}

const OtherSessions = ({ id }: { readonly id: string }) => {
  const { again, error, value } = useAnswer(read(id), id)
  if (error !== undefined) return <Failed error={error} again={again} />
  if (value === undefined) return <Loading what="the sessions" />
  if (value.length === 0) return <p class="hint">Its agent has no other session.</p>
  return (
    <>
      <h2>The latest of its agent</h2>
      <Table label="Sessions" columns={columnsOf(id)} rows={value} keyOf={({ session }) => session} />
    </>
  )
}

const OtherCalls = ({ id }: { readonly id: string }) => {
  const { again, error, value } = useCall(id)
  if (error !== undefined) return <Failed error={error} again={again} />
  if (value === undefined) return <Loading what="the call" />
  const { call, next, previous } = value
  const others: ReadonlyArray<
    readonly [name: string, before: string | null | undefined, after: string | null | undefined]
  > = [
    ["The call that it continues", call.parent_event_id, id],
    ["The failed call that it retries", call.retry_of, id],
    ["Its retry", id, call.retried_by],
    ["The previous call of the session", previous, id],
    ["The next call of the session", id, next]
  ]
  return (
    <ul>
      {others.map(
        ([name, before, after]) =>
          typeof before === "string" &&
          typeof after === "string" && (
            <li key={name}>
              <Link to={to("calls", before, after)} text={name} />
            </li>
          )
      )}
    </ul>
  )
}

export const Chooser = ({ id, kind }: { readonly kind: Kind; readonly id: string }) => {
  const [other, setOther] = useState("")
  return (
    <>
      <form
        class="choices"
        onSubmit={(event) => {
          event.preventDefault()
          if (other.trim() !== "") Route.go(to(kind, id, other.trim()))
        }}
      >
        <label>
          <span>{kind === "sessions" ? "Name of a session" : "Id of a call"}</span>{" "}
          <input value={other} onInput={({ currentTarget }) => setOther(currentTarget.value)} />
        </label>
        <button type="submit">Compare</button>
      </form>
      {kind === "sessions" ? <OtherSessions id={id} /> : <OtherCalls id={id} />}
    </>
  )
}
