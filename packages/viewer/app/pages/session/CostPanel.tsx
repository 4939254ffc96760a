/** Beside the stream: what the selected call cost and why, and which messages cost most because they were sent again and again. */
import { useMemo } from "preact/hooks"
import { Ending } from "../../parts/CallCells.tsx"
import { CallCost } from "../../parts/Costs.tsx"
import { Bytes, Duration, Fact, Time } from "../../parts/Facts.tsx"
import { RebuiltHint } from "../../parts/Rebuilt.tsx"
import * as Route from "../../route/Route.ts"
import type { Call, Message } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"
import { CacheLens } from "./CacheLens.tsx"
import type { Carried } from "./Carried.ts"
import { firstChangeOf } from "./FirstChange.ts"
import { timeOf } from "./StreamItems.ts"
import * as Links from "./Links.ts"
import { Misses } from "./Misses.tsx"

/** How many of the messages that cost most are listed. */
const listed = 8

interface Props {
  /** Where the page is too narrow for it, it lies over the conversation. */
  readonly isOpen: boolean
  readonly calls: ReadonlyArray<Call>
  readonly messages: ReadonlyArray<Message>
  readonly carried: ReadonlyMap<number, Carried>
  readonly selected: Call | undefined
  readonly number: number | undefined
  readonly shown: Links.Shown
}

export const CostPanel = ({ calls, carried, isOpen, messages, number, selected, shown }: Props) => {
  const byId = useMemo(() => new Map(calls.map((call) => [call.event_id, call])), [calls])
  const parent = byId.get(selected?.parent_event_id ?? "")
  const change = selected && firstChangeOf(selected, byId)
  return (
    <aside class={isOpen ? "side open" : "side"} aria-label="About this session">
      {selected !== undefined && (
        <section>
          <h2>
            <a href={Route.to(["events", selected.event_id])}>Call {number}</a>
          </h2>
          <dl class="facts">
            <Fact name="When">
              <Time at={timeOf(selected)} />
            </Fact>
            <Fact name="Took">
              <Duration ms={selected.duration_ms} />
            </Fact>
            <Fact name="Cost">
              <CallCost call={selected} />
            </Fact>
            <Fact name="Sent">
              <Bytes value={selected.inputs_bytes} />
            </Fact>
            <Fact name="Stopped">
              {selected.error_type === null ? (
                <Ending reason={selected.stop_reason ?? selected.provider_stop_reason} />
              ) : (
                <Plain as="span" class="bad" text={selected.error_type} />
              )}
            </Fact>
          </dl>
          <RebuiltHint call={selected} />
          <h3>Cache</h3>
          <CacheLens {...{ call: selected, change, parent, messages, shown }} />
        </section>
      )}
      <Misses calls={calls} shown={shown} />
      <SentAgain {...{ calls, carried, messages, shown }} />
    </aside>
  )
}

/** The messages that cost most because they were sent again and again. */
const SentAgain = ({ calls, carried, messages, shown }: Pick<Props, "calls" | "carried" | "messages" | "shown">) => {
  const { all, rows } = useMemo(() => {
    const rows = messages.flatMap((message) => {
      const bytes = Words.bytesOf(message)
      const times = carried.get(message.number)?.times ?? 0
      const isShown = shown === undefined || shown.has(message.event_id)
      return times < 2 || !isShown ? [] : [{ message, bytes, times, carriedBytes: bytes * times }]
    })
    const all = calls.reduce(
      (sum, { event_id, inputs_bytes }) => sum + (shown?.has(event_id) === false ? 0 : inputs_bytes),
      0
    )
    return {
      all,
      rows: rows.toSorted((one, other) => other.carriedBytes - one.carriedBytes).slice(0, listed)
    }
  }, [carried, messages, shown])
  if (rows.length === 0) return null
  return (
    <section>
      <h2>Sent again most</h2>
      <p class="hint">Size of a message × calls that sent it, of {Format.bytes(all)} in all.</p>
      <ol class="costly">
        {rows.map(({ bytes, carriedBytes, message, times }) => (
          <li key={message.number}>
            <a href={Links.toMessage(message, shown)}>#{message.number}</a>{" "}
            <span title={`${Format.count(bytes)} bytes, sent ${Format.count(times)} times`}>
              {Format.bytes(bytes)} × {Format.count(times)} = <b>{Format.bytes(carriedBytes)}</b>,{" "}
              {Format.percent(carriedBytes, all)}
            </span>
            <Plain as="small" text={Words.line(Words.ofMessage(message), 70)} />
          </li>
        ))}
      </ol>
    </section>
  )
}
