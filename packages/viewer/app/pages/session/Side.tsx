/** Beside the stream: what the selected call cost and why, and which messages cost most because they were sent again and again. */
import { useMemo } from "preact/hooks"
import { Bytes, Cost, Duration, Time } from "../../parts/Facts.tsx"
import * as Route from "../../route/Route.ts"
import type { Call, Message } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"
import { carriedOf } from "./Carried.ts"
import { timeOf } from "./Items.ts"

/** How many of the messages that cost most are listed. */
const listed = 8

interface LensProps {
  readonly call: Call
  readonly parent: Call | undefined
  readonly messages: ReadonlyArray<Message>
}

/** What could have come from the provider's cache, what did, and the first thing that differs. */
const CacheLens = ({ call, messages, parent }: LensProps) => {
  const reported = call.cache_read_tokens
  if (parent === undefined) return <p>The first call of its thread: nothing could come from the cache.</p>
  const isWhole = call.gone_messages.length === 0
  const expected = isWhole && !call.instructions_changed && !call.tools_changed ? parent.input_tokens : null
  const gapMs = Date.parse(timeOf(call)) - Date.parse(timeOf(parent))
  const first = messages.find(({ number }) => number === call.gone_messages[0])
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Expected from the cache</dt>
          <dd>{expected === null ? `what ${call.kept_messages} messages had` : `${Format.count(expected)} tokens`}</dd>
        </div>
        <div>
          <dt>Reported by the provider</dt>
          <dd>{reported === null ? "nothing said" : `${Format.count(reported)} tokens`}</dd>
        </div>
        <div>
          <dt>Since the call before</dt>
          <dd>{Format.duration(gapMs)}</dd>
        </div>
      </dl>
      {expected !== null && reported !== null && expected > 2 * reported && expected - reported > 1_024 && (
        <p class="warn">
          {Format.count(expected - reported)} tokens were paid in full although the history was kept
          {gapMs > 300_000 ? `: ${Format.duration(gapMs)} had passed, and caches are kept for minutes.` : "."}
        </p>
      )}
      {call.tools_changed && <p class="warn">The tools changed: everything after them had to be read again.</p>}
      {call.instructions_changed && (
        <p class="warn">The instructions changed: everything after them had to be read again.</p>
      )}
      {first !== undefined && (
        <p class="warn">
          The first message that differs is <a href={linkOf(first.number)}>#{first.number}</a>:{" "}
          <Plain text={Words.line(Words.ofMessage(first), 80)} />
        </p>
      )}
    </>
  )
}

const linkOf = (message: number): string => {
  const { path, query } = Route.current()
  return Route.to(path, { ...Object.fromEntries(query), message, call: null })
}

interface Props {
  readonly calls: ReadonlyArray<Call>
  readonly messages: ReadonlyArray<Message>
  readonly selected: Call | undefined
  readonly number: number | undefined
}

export const Side = ({ calls, messages, number, selected }: Props) => {
  const carried = useMemo(() => carriedOf(calls), [calls])
  const costly = useMemo(() => {
    const rows = messages.map((message) => {
      const bytes = Words.bytesOf(message)
      const times = carried.get(message.number) ?? 0
      return { message, bytes, times, carriedBytes: bytes * times }
    })
    const all = calls.reduce((sum, { inputs_bytes }) => sum + inputs_bytes, 0)
    return {
      all,
      rows: rows.toSorted((one, other) => other.carriedBytes - one.carriedBytes).slice(0, listed)
    }
  }, [carried, messages])
  const parent = selected && calls.find(({ event_id }) => event_id === selected.parent_event_id)
  return (
    <aside class="side" aria-label="About this session">
      {selected !== undefined && (
        <section>
          <h2>
            <a href={Route.to(["events", selected.event_id])}>Call {number}</a>
          </h2>
          <dl class="facts">
            <div>
              <dt>When</dt>
              <dd>
                <Time at={timeOf(selected)} />
              </dd>
            </div>
            <div>
              <dt>Took</dt>
              <dd>
                <Duration ms={selected.duration_ms} />
              </dd>
            </div>
            <div>
              <dt>Cost</dt>
              <dd>
                <Cost usd={selected.cost_usd} />
              </dd>
            </div>
            <div>
              <dt>Sent</dt>
              <dd>
                <Bytes value={selected.inputs_bytes} />
              </dd>
            </div>
            <div>
              <dt>Stopped</dt>
              <dd>
                <Plain text={selected.stop_reason ?? selected.provider_stop_reason ?? "not said"} />
              </dd>
            </div>
          </dl>
          <h3>Cache</h3>
          <CacheLens call={selected} parent={parent} messages={messages} />
        </section>
      )}
      <section>
        <h2>Sent again most</h2>
        <p class="hint">Size of a message × calls that sent it, of {Format.bytes(costly.all)} in all.</p>
        <ol class="costly">
          {costly.rows.map(({ bytes, carriedBytes, message, times }) => (
            <li key={message.number}>
              <a href={linkOf(message.number)}>#{message.number}</a>{" "}
              <span title={`${Format.count(bytes)} bytes, sent ${Format.count(times)} times`}>
                {Format.bytes(bytes)} × {Format.count(times)} = <b>{Format.bytes(carriedBytes)}</b>,{" "}
                {Format.percent(carriedBytes, costly.all)}
              </span>
              <small>
                <Plain text={Words.line(Words.ofMessage(message), 70)} />
              </small>
            </li>
          ))}
        </ol>
      </section>
    </aside>
  )
}
