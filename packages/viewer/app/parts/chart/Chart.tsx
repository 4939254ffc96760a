/** Values by hour or day, as bars on top of each other or as lines. A table beside it says the same. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Plain } from "../../text/Plain.tsx"
import * as Period from "../Period.ts"
import { useWidth } from "../useWidth.ts"
import { type Look, Plot } from "./Plot.tsx"
import * as Scale from "./Scale.ts"
import { type Series, sumOf } from "./Series.ts"
import { type Read, Tip } from "./Tip.tsx"

export interface Opens {
  /** What a click on a slot shows, such as “its hours”. */
  readonly what: string
  readonly open: (slot: number) => void
}

export interface Props {
  readonly title: string
  readonly period: Period.Period
  readonly series: ReadonlyArray<Series>
  readonly look?: Look
  readonly steps?: Scale.Steps
  readonly show: (value: number) => string
  /** As `show`, on an axis whose ticks are a step apart. */
  readonly mark?: (value: number, step: number) => string
  /** For the whole period; the sum by default. */
  readonly total?: ComponentChildren
  /** What is not in it. */
  readonly note?: string
  readonly opens?: Opens | undefined
  /** Where the name of a series leads to. */
  readonly linkOf?: ((name: string) => string | undefined) | undefined
}

const readOf = ({ look = "bars", period, series, show, title }: Props, slot: number, index: number): Read => {
  const values = series.flatMap(({ name, values, ...each }) => {
    const value = values[index] ?? null
    // What adds nothing to a bar of many parts is not named.
    if (series.length > 1 && (value === null || (value === 0 && look === "bars"))) return []
    return [
      { name: name === "" ? title : name, class: each.class, text: value === null ? "nothing known" : show(value) }
    ]
  })
  const sum = look === "bars" && series.length > 1 ? show(sumOf(series, index)) : undefined
  return { when: Period.showWhole(period, slot), values, sum }
}

const textOf = ({ sum, values, when }: Read): string =>
  `${when}: ${[...values.map(({ name, text }) => `${name} ${text}`), ...(sum === undefined ? [] : [`all ${sum}`])].join(", ")}`

export const Chart = (props: Props) => {
  const { linkOf, look = "bars", note = "", opens, period, series, show, steps = Scale.decimal, title, total } = props
  const [ref, width] = useWidth<HTMLDivElement>()
  const [at, setAt] = useState<number>()
  const slots = Period.slotsOf(period)
  const whole = show(slots.reduce((sum, _, index) => sum + sumOf(series, index), 0))
  const read = at === undefined ? undefined : readOf(props, slots[at]!, at)
  const last = slots.length - 1
  const onKeyDown = (event: KeyboardEvent) => {
    const from = at ?? last
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key]
    if (to !== undefined) setAt(Math.max(0, Math.min(last, to)))
    else if (event.key === "Enter" && opens !== undefined) opens.open(slots[from]!)
    else return
    event.preventDefault()
  }
  return (
    <figure class="chart">
      <figcaption>
        <span>
          {title} <small>by {period.by}</small>
        </span>
        <b>{total ?? whole}</b>
      </figcaption>
      <div
        class="plot"
        ref={ref}
        // A slider through time: its value is read as it moves.
        role="slider"
        tabIndex={0}
        aria-label={`${title} by ${period.by}${opens === undefined ? "" : `. Enter shows ${opens.what}`}`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={at ?? last}
        aria-valuetext={textOf(read ?? readOf(props, slots[last]!, last))}
        onKeyDown={onKeyDown}
        onFocus={({ currentTarget }) => currentTarget.matches(":focus-visible") && setAt((at) => at ?? last)}
        onBlur={() => setAt(undefined)}
      >
        <Plot
          {...{ at, look, period, series, setAt, slots, steps, width }}
          mark={props.mark ?? show}
          open={opens && ((index) => opens.open(slots[index]!))}
        />
        {read !== undefined && <Tip read={read} side={at! < slots.length / 2 ? "end" : "start"} hint={opens?.what} />}
      </div>
      {series.some(({ name }) => name !== "") && <Legend series={series} linkOf={linkOf} />}
      {note !== "" && <p class="hint note">{note}</p>}
    </figure>
  )
}

const Legend = ({ linkOf, series }: Pick<Props, "linkOf" | "series">) => (
  <ul class="legend">
    {series.map(({ name, ...each }) => {
      const href = linkOf?.(name)
      return (
        <li key={name}>
          <span class={`swatch ${each.class}`} />
          {href === undefined ? (
            <Plain text={name} />
          ) : (
            <a href={href}>
              <Plain text={name} />
            </a>
          )}
        </li>
      )
    })}
  </ul>
)
