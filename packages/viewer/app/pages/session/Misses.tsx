/** Calls of the session that the cache failed, those that lost most first. */
import { useMemo } from "preact/hooks"
import type { Call } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { lostOf, missOf } from "./CacheMiss.ts"
import { timeOf } from "./StreamItems.ts"
import * as Links from "./Links.ts"

const listed = 5

const reasons = {
  model: "another model",
  tools: "the tools changed",
  instructions: "the instructions changed",
  parameters: "perhaps because the settings changed",
  time: "no settings changed: the cache had probably expired",
  unknown: "no settings changed: why is not known"
} as const

const missesOf = (calls: ReadonlyArray<Call>) => {
  const byId = new Map(calls.map((call) => [call.event_id, call]))
  return calls
    .flatMap((call, index) => {
      const parent = byId.get(call.parent_event_id ?? "")
      const gapMs = parent === undefined ? 0 : Date.parse(timeOf(call)) - Date.parse(timeOf(parent))
      const miss = missOf(call, parent, gapMs)
      return miss === undefined ? [] : [{ call, number: index + 1, lost: lostOf(miss, call), ...miss }]
    })
    .toSorted((one, other) => (other.lost ?? 0) - (one.lost ?? 0) || other.tokens - one.tokens)
}

interface Props {
  readonly calls: ReadonlyArray<Call>
  readonly shown: Links.Shown
}

export const Misses = ({ calls, shown }: Props) => {
  const misses = useMemo(
    () => missesOf(calls).filter(({ call }) => shown === undefined || shown.has(call.event_id)),
    [calls, shown]
  )
  if (misses.length === 0) return null
  const lost = misses.reduce((sum, { lost = 0 }) => sum + lost, 0)
  return (
    <section>
      <h2>Cache misses</h2>
      <p class="hint">
        {Format.count(misses.length)} of {Format.count(shown?.size ?? calls.length)} calls
        {lost > 0 && (
          <>
            , which cost <b>{Format.dollars(String(lost))}</b> more than from the cache
          </>
        )}
        .
      </p>
      <ol class="costly">
        {misses.slice(0, listed).map(({ call, lost, number, reason, tokens }) => (
          <li key={call.event_id}>
            <a href={Links.toCall(call.event_id, shown)}>Call {number}</a> {Format.short(tokens)} tokens
            {lost !== undefined && <b> {Format.dollars(String(lost))}</b>}
            <small>{reasons[reason]}</small>
          </li>
        ))}
      </ol>
    </section>
  )
}
