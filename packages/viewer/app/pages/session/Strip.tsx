/**
 * All calls as bars, in their order: what each sent again (grey) and what it sent anew (colour), with marks for rewritten history,
 * errors and long pauses. A click goes to the call.
 */
import { useMemo } from "preact/hooks"
import { useWidth } from "../../parts/useWidth.ts"
import type { Call } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { type Bar, barsOf } from "./Bars.ts"
import { timeOf } from "./StreamItems.ts"
import type { Shown } from "./Links.ts"

/** Height of the bars (pixels). */
const height = 44

interface Props {
  readonly calls: ReadonlyArray<Call>
  readonly shown: Shown
  readonly selected: string | undefined
  readonly select: (call: Call) => void
}

const titleOf = ({ calls, fresh, hasError, hasRewrite, retries, sent }: Bar): string => {
  const [first] = calls
  const last = calls.at(-1)!.number
  const name = calls.length === 1 ? `Call ${last}` : `Calls ${first!.number} to ${last}`
  const rewritten = hasRewrite ? ", history rewritten" : ""
  const failed = hasError ? ", failed" : ""
  return `${name}, ${Format.timeOfDay(timeOf(first!.call))}: ${Format.bytes(sent)} sent, ${Format.bytes(fresh)} new${rewritten}${failed}${retries === "" ? "" : `, ${retries}`}`
}

/** What its colours mean, where a bar has them. */
const legend: ReadonlyArray<readonly [name: string, hue: string, isThere: (bar: Bar) => boolean]> = [
  ["sent anew by each call", "plain", () => true],
  ["sent again", "again", ({ fresh, sent }) => sent > fresh],
  ["failed", "failures", ({ hasError }) => hasError],
  ["history rewritten", "rewritten", ({ hasRewrite }) => hasRewrite]
]

export const Strip = ({ calls, select, selected, shown }: Props) => {
  const [ref, width] = useWidth<HTMLDivElement>()
  const bars = useMemo(() => (width === 0 ? [] : barsOf(calls, shown, width)), [calls, shown, width])
  const step = bars.length === 0 ? 0 : Math.min(width / bars.length, 28)
  const most = Math.max(1, ...bars.map(({ sent }) => sent))
  const scale = (bytes: number) => (bytes === 0 ? 0 : Math.max(1.5, (height * bytes) / most))
  return (
    <div class="strip" ref={ref}>
      <svg
        width={width}
        height={height + 8}
        role="img"
        aria-label={`${Format.count(shown?.size ?? calls.length)} calls: what each sent again and what it sent anew. The table of calls says the same.`}
        onClick={(event) => {
          const { left } = event.currentTarget.getBoundingClientRect()
          const bar = bars[Math.floor((event.clientX - left) / step)]
          if (bar !== undefined) select(bar.calls[0]!.call)
        }}
      >
        {bars.map((bar, index) => {
          const x = index * step
          const thickness = Math.max(1, step - (step > 4 ? 1.5 : 0.5))
          return (
            <g key={index} class={bar.calls.some(({ call }) => call.event_id === selected) ? "bar selected" : "bar"}>
              <title>{titleOf(bar)}</title>
              <rect class="hit" x={x} y={0} width={step} height={height + 8} />
              <rect class="repeated" x={x} y={height - scale(bar.sent)} width={thickness} height={scale(bar.sent)} />
              <rect class="fresh" x={x} y={height - scale(bar.fresh)} width={thickness} height={scale(bar.fresh)} />
              <rect class="outline" x={x + 0.5} y={0.5} width={Math.max(1, step - 1)} height={height + 7} />
              {bar.hasGap && <rect class="gap" x={x - 1} y={0} width={1} height={height} />}
              {bar.hasError && <rect class="failed" x={x} y={height + 3} width={Math.max(thickness, 3)} height={4} />}
              {bar.hasRewrite && !bar.hasError && (
                <rect class="rewritten" x={x} y={height + 3} width={Math.max(thickness, 3)} height={4} />
              )}
            </g>
          )
        })}
      </svg>
      <ul class="legend" aria-hidden="true">
        {legend
          .filter(([, , isThere]) => bars.some(isThere))
          .map(([name, hue]) => (
            <li key={name}>
              <span class={`swatch ${hue}`} />
              {name}
            </li>
          ))}
      </ul>
    </div>
  )
}
