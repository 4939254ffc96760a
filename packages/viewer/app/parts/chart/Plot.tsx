/** The drawing of a chart: axes, bars or lines, and the slot that is pointed at. */
import { Fragment } from "preact"
import { useId, useRef } from "preact/hooks"
import * as Period from "../Period.ts"
import * as Scale from "./Scale.ts"
import { type Series, sumOf } from "./Series.ts"

export type Look = "bars" | "lines"

/** Pixels: of the whole, of the axis below, above the highest tick, and of a character of a label. */
const height = 148
const below = 20
const above = 8
const character = 6.6

/** Lines whose points are as far apart have dots (pixels). */
const dottedPixels = 8

interface Props {
  readonly width: number
  readonly period: Period.Period
  readonly slots: ReadonlyArray<number>
  readonly series: ReadonlyArray<Series>
  readonly look: Look
  readonly steps: Scale.Steps
  /** How a value is marked on an axis whose ticks are a step apart. */
  readonly mark: (value: number, step: number) => string
  /** The index of the slot that is pointed at. */
  readonly at: number | undefined
  readonly setAt: (index: number | undefined) => void
  readonly open: ((index: number) => void) | undefined
}

/** Where things are (pixels). */
interface Frame {
  readonly left: number
  readonly step: number
  readonly y: (value: number) => number
}

export const Plot = ({ at, look, mark, open, period, series, setAt, slots, steps, width }: Props) => {
  const values = slots.map((_, index) =>
    look === "bars" ? sumOf(series, index) : Math.max(0, ...series.map(({ values }) => values[index] ?? 0))
  )
  const ticks = Scale.ticksOf(Math.max(...values), steps)
  const labels = ticks.map((tick) => (tick === 0 ? "0" : mark(tick, ticks[1]!)))
  const left = Math.ceil(Math.max(...labels.map(({ length }) => length)) * character) + 8
  const step = Math.max(0, width - left) / slots.length
  const most = ticks.at(-1)! || 1
  const frame: Frame = { left, step, y: (value) => above + (height - below - above) * (1 - value / most) }
  const isTouched = useRef(false)
  if (width === 0) return <svg height={height} aria-hidden="true" />
  const indexAt = (event: MouseEvent) => {
    const x = event.clientX - (event.currentTarget as Element).getBoundingClientRect().left - left
    return Math.max(0, Math.min(slots.length - 1, Math.floor(x / step)))
  }
  return (
    <svg
      width={width}
      height={height}
      aria-hidden="true"
      class={open && "opens"}
      onPointerMove={(event) => setAt(indexAt(event))}
      onPointerDown={({ pointerType }) => (isTouched.current = pointerType === "touch")}
      onPointerLeave={() => isTouched.current || setAt(undefined)}
      // A finger does not point before it touches: it reads first, and opens what it has read.
      onClick={(event) => (isTouched.current && indexAt(event) !== at ? setAt(indexAt(event)) : open?.(indexAt(event)))}
    >
      {ticks.map((tick, index) => (
        <g key={tick} class="tick">
          <line x1={left} x2={width} y1={frame.y(tick)} y2={frame.y(tick)} />
          <text x={left - 6} y={frame.y(tick) + 4} text-anchor="end">
            {labels[index]}
          </text>
        </g>
      ))}
      {Scale.labelled(period.by, slots.length, width - left).map((index) => {
        const text = Period.show(period, slots[index]!)
        // None is cut at the edge.
        const x = Math.min(left + step * (index + 0.5), width - (text.length * character) / 2)
        return (
          <text key={index} x={x} y={height - 5} text-anchor="middle">
            {text}
          </text>
        )
      })}
      {at !== undefined && (
        <rect class="pointed" x={left + step * at} y={above} width={step} height={height - below - above} />
      )}
      {look === "bars" ? <Bars {...{ frame, series, slots }} /> : <Lines {...{ frame, series }} />}
    </svg>
  )
}

interface BarsProps {
  readonly frame: Frame
  readonly series: ReadonlyArray<Series>
  readonly slots: ReadonlyArray<number>
}

const Bars = ({ frame: { left, step, y }, series, slots }: BarsProps) => {
  const id = useId()
  const width = Math.max(1, step * 0.78)
  return (
    <>
      {series.map(({ name, values, ...each }, kind) => {
        const isHatched = each.class.includes("hatched")
        return (
          <g key={name} class={`bars ${each.class}`}>
            {isHatched && (
              <pattern
                id={`${id}-${kind}`}
                width={4}
                height={4}
                patternUnits="userSpaceOnUse"
                patternTransform="rotate(45)"
              >
                <rect width={2.4} height={4} />
              </pattern>
            )}
            {slots.map((slot, index) => {
              const value = values[index] ?? 0
              if (value === 0) return null
              const from = sumOf(series.slice(0, kind), index)
              // A bar is seen however small it is.
              const size = Math.max(1.5, y(from) - y(from + value))
              return (
                <rect
                  key={slot}
                  x={left + step * index + (step - width) / 2}
                  y={y(from) - size}
                  width={width}
                  height={size}
                  fill={isHatched ? `url(#${id}-${kind})` : undefined}
                />
              )
            })}
          </g>
        )
      })}
    </>
  )
}

/** Stretches of slots of which something is known. */
const stretchesOf = (values: ReadonlyArray<number | null>): ReadonlyArray<ReadonlyArray<number>> => {
  const stretches: Array<Array<number>> = []
  for (const [index, value] of values.entries()) {
    if (value === null) continue
    const last = stretches.at(-1)
    if (last?.at(-1) === index - 1) last.push(index)
    else stretches.push([index])
  }
  return stretches
}

const Lines = ({ frame: { left, step, y }, series }: Pick<BarsProps, "frame" | "series">) => (
  <>
    {series.map(({ name, values, ...each }) => {
      const pointOf = (index: number) => [left + step * (index + 0.5), y(values[index]!)] as const
      return (
        <g key={name} class={`line ${each.class}`}>
          {stretchesOf(values).map((stretch) => (
            <Fragment key={stretch[0]}>
              <polyline points={stretch.map((index) => pointOf(index).join()).join(" ")} />
              {(stretch.length === 1 || step >= dottedPixels) &&
                stretch.map((index) => {
                  const [x, top] = pointOf(index)
                  return <circle key={index} cx={x} cy={top} r={2.5} />
                })}
            </Fragment>
          ))}
        </g>
      )
    })}
  </>
)
