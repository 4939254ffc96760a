/** `#/live`: calls as they are recorded. The list follows them at its top only; further down it says how many are new. */
import { useEffect, useRef, useState } from "preact/hooks"
import { useSelection } from "../../keyboard/useSelection.ts"
import { Ended, Model, Name, Numbers, NumberTitles } from "../../parts/CallCells.tsx"
import { Time } from "../../parts/Facts.tsx"
import { Empty, Failed } from "../../parts/States.tsx"
import type { PageProps } from "../../route/PageProps.ts"
import * as Route from "../../route/Route.ts"
import { CallPeek } from "./CallPeek.tsx"
import { useCalls } from "./useCalls.ts"

/** Whether the page is at its top. */
const useAtTop = (): boolean => {
  const [isAtTop, setAtTop] = useState(true)
  useEffect(() => {
    const update = () => setAtTop(scrollY < 40)
    addEventListener("scroll", update, { passive: true })
    return () => removeEventListener("scroll", update)
  }, [])
  return isAtTop
}

const peek = (call: string | null) => Route.amend({ peek: call })

export const LivePage = ({ query }: PageProps) => {
  const { calls, error, isFast } = useCalls()
  const peeked = query.get("peek")
  const isAtTop = useAtTop()
  const [seen, setSeen] = useState<string>()
  useEffect(() => void (document.title = "Live · Tachograph"), [])
  useEffect(() => {
    if (isAtTop) setSeen(calls[0]?.event_id)
  }, [isAtTop, calls])
  const from = isAtTop
    ? 0
    : Math.max(
        0,
        calls.findIndex(({ event_id }) => event_id === seen)
      )
  const shown = calls.slice(from)
  const list = useRef<HTMLTableSectionElement>(null)
  const selection = useSelection(
    shown.map(({ event_id }) => event_id),
    list,
    (index) => Route.go(Route.to(["events", shown[index]!.event_id])),
    (index) => peek(shown[index]!.event_id)
  )
  if (error !== undefined && calls.length === 0) return <Failed isWhole error={error} />
  return (
    <section class="page">
      <div class="page-head">
        <h1>Live</h1>
        <p class="hint" role="status">
          {error === undefined ? (
            <>
              <span key={calls[0]?.event_id} class="live beat" />
              {isFast ? " More calls come than are shown: these are the latest" : " Calls appear as they are recorded"}
            </>
          ) : (
            "Reconnecting: the server does not answer"
          )}
        </p>
      </div>
      {from > 0 && (
        <button type="button" class="primary fresh-calls" onClick={() => scrollTo(0, 0)}>
          {from} new ↑
        </button>
      )}
      {calls.length === 0 && <Empty title="Nothing is recorded yet" />}
      {calls.length > 0 && (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Calls">
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Session</th>
                <th scope="col">Agent</th>
                <th scope="col">Model</th>
                <NumberTitles />
                <th scope="col">Ended</th>
              </tr>
            </thead>
            <tbody ref={list}>
              {shown.map((call, index) => (
                <tr key={call.event_id} aria-current={index === selection ? "true" : undefined}>
                  <td>
                    <a href={Route.to(["events", call.event_id])}>
                      <Time at={call.received_at} />
                    </a>
                  </td>
                  <td>
                    {call.session !== "" && (
                      <a href={Route.to(["sessions", call.session], { call: call.event_id })}>
                        <Name text={call.session} />
                      </a>
                    )}
                  </td>
                  <td>
                    <Name text={`${call.agent} ${call.agent_version}`} />
                  </td>
                  <td>
                    <Model call={call} />
                  </td>
                  <Numbers call={call} />
                  <td>
                    <Ended call={call} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {peeked !== null && <CallPeek key={peeked} id={peeked} close={() => peek(null)} />}
    </section>
  )
}
