/**
 * All calls as bars, in their order: what each sent again (grey) and what it sent anew (colour), with marks for rewritten history,
 * errors and long pauses. A click goes to the call.
 */
import { useEffect, useRef, useState } from "preact/hooks"
import type { Call } from "../../server/Types.ts"
import * as Format from "../../text/Format.ts"
import { isRewrite, timeOf } from "./Items.ts"

/** Height of the bars (pixels), and the least width of one. */
const height = 44
const minWidth = 3

/** A pause between two calls that is marked (ms): after five minutes most providers forget what they had cached. */
const gapMs = 300_000

interface Props {
  readonly calls: ReadonlyArray<Call>
  readonly selected: string | undefined
  readonly select: (call: Call) => void
}

interface Bar {
  readonly first: number
  readonly last: number
  readonly sent: number
  readonly fresh: number
  readonly hasRewrite: boolean
  readonly hasError: boolean
  readonly hasGap: boolean
}

/** Bytes that a call sent and its parent had not. */
const freshOf = (call: Call, parents: ReadonlyMap<string, Call>): number => {
  const parent = call.parent_event_id === null ? undefined : parents.get(call.parent_event_id)
  if (parent === undefined) return call.inputs_bytes
  return isRewrite(call) ? call.inputs_bytes : Math.max(0, call.inputs_bytes - parent.inputs_bytes)
}

const barsOf = (calls: ReadonlyArray<Call>, width: number): ReadonlyArray<Bar> => {
  const parents = new Map(calls.map((call) => [call.event_id, call]))
  const perBar = Math.max(1, Math.ceil((calls.length * minWidth) / Math.max(width, minWidth)))
  const bars: Array<Bar> = []
  for (let first = 0; first < calls.length; first += perBar) {
    const group = calls.slice(first, first + perBar)
    const largest = group.reduce((one, other) => (other.inputs_bytes > one.inputs_bytes ? other : one))
    bars.push({
      first,
      last: first + group.length - 1,
      sent: largest.inputs_bytes,
      fresh: Math.max(...group.map((call) => freshOf(call, parents))),
      hasRewrite: group.some(isRewrite),
      hasError: group.some(({ error_type }) => error_type !== null),
      hasGap: group.some((call, index) => {
        const before = calls[first + index - 1]
        return before !== undefined && Date.parse(timeOf(call)) - Date.parse(timeOf(before)) > gapMs
      })
    })
  }
  return bars
}

const useWidth = () => {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width))
    observer.observe(ref.current!)
    return () => observer.disconnect()
  }, [])
  return [ref, width] as const
}

const titleOf = (bar: Bar, calls: ReadonlyArray<Call>): string => {
  const name = bar.first === bar.last ? `Call ${bar.first + 1}` : `Calls ${bar.first + 1} to ${bar.last + 1}`
  const rewritten = bar.hasRewrite ? ", history rewritten" : ""
  const failed = bar.hasError ? ", failed" : ""
  return `${name}, ${Format.timeOfDay(timeOf(calls[bar.first]!))}: ${Format.bytes(bar.sent)} sent, ${Format.bytes(bar.fresh)} new${rewritten}${failed}`
}

export const Strip = ({ calls, select, selected }: Props) => {
  const [ref, width] = useWidth()
  const bars = width === 0 ? [] : barsOf(calls, width)
  const step = bars.length === 0 ? 0 : Math.min(width / bars.length, 28)
  const most = Math.max(1, ...bars.map(({ sent }) => sent))
  const scale = (bytes: number) => (bytes === 0 ? 0 : Math.max(1.5, (height * bytes) / most))
  const at = calls.findIndex(({ event_id }) => event_id === selected)
  return (
    <div class="strip" ref={ref}>
      <svg
        width={width}
        height={height + 8}
        role="img"
        aria-label={`${Format.count(calls.length)} calls: what each sent again and what it sent anew. The table of calls says the same.`}
        onClick={(event) => {
          const { left } = event.currentTarget.getBoundingClientRect()
          const bar = bars[Math.floor((event.clientX - left) / step)]
          if (bar !== undefined) select(calls[bar.first]!)
        }}
      >
        {bars.map((bar, index) => {
          const x = index * step
          const thickness = Math.max(1, step - (step > 4 ? 1.5 : 0.5))
          return (
            <g key={bar.first} class={bar.first <= at && at <= bar.last ? "bar selected" : "bar"}>
              <title>{titleOf(bar, calls)}</title>
              <rect class="hit" x={x} y={0} width={step} height={height + 8} />
              <rect class="repeated" x={x} y={height - scale(bar.sent)} width={thickness} height={scale(bar.sent)} />
              <rect class="fresh" x={x} y={height - scale(bar.fresh)} width={thickness} height={scale(bar.fresh)} />
              {bar.hasGap && <rect class="gap" x={x - 1} y={0} width={1} height={height} />}
              {bar.hasError && <rect class="failed" x={x} y={height + 3} width={Math.max(thickness, 3)} height={4} />}
              {bar.hasRewrite && !bar.hasError && (
                <rect class="rewritten" x={x} y={height + 3} width={Math.max(thickness, 3)} height={4} />
              )}
            </g>
          )
        })}
      </svg>
    </div>
  )
}
