/** `#/live`: calls as they are recorded. The list follows them at its top only; further down it says how many are new. */
import { useEffect, useState } from "preact/hooks"
import { Cost, Duration, Time, Tokens } from "../../parts/Facts.tsx"
import { Empty, Failed } from "../../parts/States.tsx"
import * as Route from "../../route/Route.ts"
import * as Client from "../../server/Client.ts"
import type { EventSummary } from "../../server/Types.ts"
import { Plain } from "../../text/Plain.tsx"

/** How long the server may wait for the next call (s). Longer, and proxies close the connection. */
const waitSeconds = 20

/** How long to wait after an answer that is an error (ms). */
const retryMs = 3_000

/** Calls that are kept. */
const maxCalls = 500

interface NewEvents {
  readonly events: ReadonlyArray<EventSummary>
  readonly next_cursor: string
}

interface EventPage {
  readonly events: ReadonlyArray<EventSummary>
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const useCalls = () => {
  const [calls, setCalls] = useState<ReadonlyArray<EventSummary>>([])
  const [error, setError] = useState<Client.ServerError>()
  useEffect(() => {
    const aborter = new AbortController()
    const { signal } = aborter
    const add = (events: ReadonlyArray<EventSummary>) =>
      setCalls((calls) => {
        const known = new Set(calls.map(({ event_id }) => event_id))
        const fresh = events.filter(({ event_id }) => !known.has(event_id))
        return [...fresh.toReversed(), ...calls].slice(0, maxCalls)
      })
    const follow = async () => {
      const { next_cursor } = await Client.get<NewEvents>(["events", "stream"], { wait: 0 }, signal)
      const latest = await Client.get<EventPage>(["events"], { order: "desc", limit: 50 }, signal)
      add(latest.events.toReversed())
      let cursor = next_cursor
      while (!signal.aborted) {
        const answer: NewEvents = await Client.get(["events", "stream"], { cursor, wait: waitSeconds }, signal)
        cursor = answer.next_cursor
        setError(undefined)
        if (answer.events.length > 0) add(answer.events)
      }
    }
    const run = async () => {
      while (!signal.aborted) {
        try {
          await follow()
        } catch (failure) {
          if (signal.aborted) return
          setError(failure instanceof Client.ServerError ? failure : new Client.ServerError(0, "offline"))
          await sleep(retryMs)
        }
      }
    }
    void run()
    return () => aborter.abort()
  }, [])
  return { calls, error }
}

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

export const LivePage = () => {
  const { calls, error } = useCalls()
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
  if (error !== undefined && calls.length === 0) return <Failed isWhole error={error} />
  return (
    <section class="page">
      <div class="page-head">
        <h1>Live</h1>
        <p class="hint" role="status">
          {error === undefined ? (
            <>
              <span class="live" /> Calls appear as they are recorded
            </>
          ) : (
            "The server does not answer: trying again"
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
                <th scope="col" class="number">
                  Tokens
                </th>
                <th scope="col" class="number">
                  Cost
                </th>
                <th scope="col" class="number">
                  Took
                </th>
                <th scope="col">Ended</th>
              </tr>
            </thead>
            <tbody>
              {calls.slice(from).map((call) => (
                <tr key={call.event_id}>
                  <td>
                    <a href={Route.to(["events", call.event_id])}>
                      <Time at={call.received_at} />
                    </a>
                  </td>
                  <td>
                    <a href={Route.to(["sessions", call.session], { call: call.event_id })}>
                      <Plain text={call.session} />
                    </a>
                  </td>
                  <td>
                    <Plain text={`${call.agent} ${call.agent_version}`} />
                  </td>
                  <td>
                    <Plain text={call.response_model ?? call.model ?? ""} />
                  </td>
                  <td class="number">
                    <Tokens input={call.input_tokens} cached={call.cache_read_tokens} output={call.output_tokens} />
                  </td>
                  <td class="number">
                    <Cost usd={call.cost_usd} />
                  </td>
                  <td class="number">
                    <Duration ms={call.duration_ms} />
                  </td>
                  <td>
                    {call.error_type === null ? (
                      (call.stop_reason ?? "")
                    ) : (
                      <span class="bad">
                        <Plain text={call.error_type} />
                      </span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
