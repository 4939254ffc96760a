/** Who recorded with a runtime: the agents and versions of its latest calls. */
import { Time } from "../../parts/Facts.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import * as Route from "../../route/Route.ts"
import * as Client from "../../server/Client.ts"
import type { EventSummary } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import { Plain } from "../../text/Plain.tsx"

/** Calls that are looked at. */
const latestCalls = 200

const read = (fingerprint: string) => async (signal: AbortSignal) => {
  const query = { fingerprint, order: "desc", limit: latestCalls }
  const { events } = await Client.get<{ readonly events: ReadonlyArray<EventSummary> }>(["events"], query, signal)
  return Array.from(
    Map.groupBy(events, ({ agent, agent_version }) => JSON.stringify([agent, agent_version])),
    ([key, calls]) => ({ key, calls: calls.length, last: calls[0]! })
  )
}

export const Users = ({ fingerprint }: { readonly fingerprint: string }) => {
  const { again, error, value } = useAnswer(read(fingerprint), fingerprint)
  if (error !== undefined) return <Failed error={error} again={again} />
  if (value === undefined) return <Loading what="its calls" />
  if (value.length === 0) return <p class="hint">No call was recorded with it.</p>
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Used by">
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Version</th>
            <th scope="col" class="number" title={`Of the latest ${latestCalls} calls of this runtime`}>
              Calls
            </th>
            <th scope="col" class="number">
              Last call
            </th>
          </tr>
        </thead>
        <tbody>
          {value.map(({ calls, key, last }) => (
            <tr key={key}>
              <td>
                <a href={Route.to(["agents", last.agent])}>
                  <Plain text={last.agent} />
                </a>
              </td>
              <td>
                <a href={Route.to(["agents", last.agent], { version: last.agent_version })}>
                  <Plain text={last.agent_version} />
                </a>
              </td>
              <td class="number">{calls}</td>
              <td class="number">
                <a href={Route.to(["events", last.event_id])}>
                  <Time at={last.received_at} />
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
