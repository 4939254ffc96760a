/** The columns of lists of calls of many sessions. */
import type { ListedEvent } from "../server/Types.ts"
import { Ended, Model, Name, numbers } from "./CallCells.tsx"
import { Colored } from "./Colored.tsx"
import { CallTime } from "./Facts.tsx"
import type { Column } from "./Table.tsx"

interface Places {
  readonly toCall: (call: ListedEvent) => string
  readonly toSession: (call: ListedEvent) => string
}

export const callColumnsOf = ({ toCall, toSession }: Places): ReadonlyArray<Column<ListedEvent>> => [
  {
    title: "When",
    sort: "last",
    of: (call) => (
      <a href={toCall(call)}>
        <CallTime call={call} />
      </a>
    )
  },
  {
    title: "Session",
    of: (call) =>
      call.session !== "" && (
        <a href={toSession(call)}>
          <Name text={call.session} />
        </a>
      )
  },
  {
    title: "Agent",
    of: ({ agent, agent_version }) => (
      <>
        <Colored name={agent}>
          <Name text={agent} />
        </Colored>{" "}
        <Colored name={agent_version}>
          <Name text={agent_version} />
        </Colored>
      </>
    )
  },
  { title: "Model", of: (call) => <Model call={call} /> },
  {
    title: "Ended",
    of: (call) => (
      <>
        <Ended call={call} />
        {call.retried_by !== undefined && (
          <small>
            tried again by <a href={toCall({ ...call, event_id: call.retried_by })}>this call</a>
          </small>
        )}
      </>
    )
  },
  ...numbers
]
