/** Who recorded with a fingerprint: the agents and versions of its latest calls. */
import { Colored } from "../../parts/Colored.tsx"
import { CallTime } from "../../parts/Facts.tsx"
import { Link } from "../../parts/Link.tsx"
import { SoFar } from "../../parts/More.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import { type Column, number, Table } from "../../parts/Table.tsx"
import * as Route from "../../route/Route.ts"
import * as Events from "../../server/Events.ts"
import type { ListedEvent } from "../../server/Types.ts"
import { usePages } from "../../server/usePages.ts"
import * as Format from "../../text/Format.ts"

/** Calls of a page. */
const latestCalls = 200

const source = (fingerprint: string) => ({
  read: (place: string | null, signal: AbortSignal) => Events.readLatest({ fingerprint }, place, latestCalls, signal),
  idOf: ({ event_id }: ListedEvent) => event_id
})

/** An agent's version. */
interface User {
  readonly key: string
  readonly calls: number
  readonly last: ListedEvent
}

const columnsOf = (all: number): ReadonlyArray<Column<User>> => [
  {
    title: "Agent",
    of: ({ last }) => (
      <Colored name={last.agent}>
        <Link to={Route.to(["agents", last.agent])} text={last.agent} />
      </Colored>
    )
  },
  {
    title: "Version",
    of: ({ last }) => (
      <Colored name={last.agent_version}>
        <Link to={Route.to(["agents", last.agent], { version: last.agent_version })} text={last.agent_version} />
      </Colored>
    )
  },
  number("Calls", ({ calls }) => calls, `Of the latest ${Format.count(all)} calls of this runtime`),
  number("Last call", ({ last }) => (
    <a href={Route.to(["events", last.event_id])}>
      <CallTime call={last} />
    </a>
  ))
]

export const Users = ({ fingerprint }: { readonly fingerprint: string }) => {
  const pages = usePages("calls of a fingerprint", source(fingerprint), fingerprint)
  const isEmpty = pages.rows.length === 0
  if (pages.error !== undefined && isEmpty) return <Failed error={pages.error} again={pages.again} />
  if (isEmpty && pages.isLoading) return <Loading what="its calls" />
  if (isEmpty && pages.hasMore) return <SoFar title="None of the latest calls was recorded with it" pages={pages} />
  if (isEmpty) return <p class="hint">No call was recorded with it.</p>
  const readable = pages.rows.filter(({ is_damaged }) => is_damaged !== true)
  const damaged = pages.rows.length - readable.length
  const users = Array.from(
    Map.groupBy(readable, ({ agent, agent_version }) => JSON.stringify([agent, agent_version])),
    ([key, calls]) => ({ key, calls: calls.length, last: calls[0]! })
  )
  return (
    <>
      <Table label="Used by" columns={columnsOf(pages.rows.length)} rows={users} keyOf={({ key }) => key} />
      {damaged > 0 && (
        <p class="hint">
          {Format.count(damaged)} of the latest calls {damaged === 1 ? "is" : "are"} damaged.
        </p>
      )}
    </>
  )
}
