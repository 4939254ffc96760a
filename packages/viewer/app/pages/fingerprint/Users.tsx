/** Who recorded with a fingerprint: the agents and versions of its latest calls. */
import { Time } from "../../parts/Facts.tsx"
import { SoFar } from "../../parts/More.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import * as Route from "../../route/Route.ts"
import * as Events from "../../server/Events.ts"
import type { ListedEvent } from "../../server/Types.ts"
import { usePages } from "../../server/usePages.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"

/** Calls of a page. */
const latestCalls = 200

const source = (fingerprint: string) => ({
  read: (place: string | null, signal: AbortSignal) => Events.readLatest({ fingerprint }, place, latestCalls, signal),
  idOf: ({ event_id }: ListedEvent) => event_id
})

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
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Used by">
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Version</th>
            <th
              scope="col"
              class="number"
              title={`Of the latest ${Format.count(pages.rows.length)} calls of this fingerprint`}
            >
              Calls
            </th>
            <th scope="col" class="number">
              Last call
            </th>
          </tr>
        </thead>
        <tbody>
          {users.map(({ calls, key, last }) => (
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
      {damaged > 0 && (
        <p class="hint">
          {Format.count(damaged)} of the latest calls {damaged === 1 ? "is" : "are"} damaged.
        </p>
      )}
    </div>
  )
}
