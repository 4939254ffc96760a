/** How far an export or an import is: how much, how fast, and how long it takes. */
import * as Effect from "effect/Effect"
import * as Bytes from "./Bytes.ts"
import * as Figures from "./Figures.ts"
import * as Progress from "./Progress.ts"

export interface Transferred {
  readonly events: number
  readonly bytes: number
  /** How much of it is done, from 0 to 1; undefined if that is not known. */
  readonly part: number | undefined
}

const timeText = (seconds: number): string => {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`
}

/** Shows it until the end of the scope. `read` counts bytes; `text` says how far it is. */
export const make = Effect.fnUntraced(function* (of: (bytes: number) => Omit<Transferred, "bytes">) {
  const startedMs = performance.now()
  let bytes = 0
  const state = () => text({ ...of(bytes), bytes }, performance.now() - startedMs)
  const { clear } = yield* Progress.make(state)
  return { read: (more: number) => void (bytes += more), text: state, clear }
})

/** `1,234 events, 1.2 GiB, 53.1 MiB/s, 12%, 3 min left`. */
export const text = ({ bytes, events, part }: Transferred, elapsedMs: number): string => {
  const seconds = Math.max(elapsedMs, 1) / 1000
  const speed = Bytes.format(Math.round(bytes / seconds))
  const shown = [`${Figures.integer(events)} events`, Bytes.format(bytes), `${speed}/s`]
  if (part !== undefined && part > 0 && part < 1) {
    shown.push(`${Math.floor(100 * part)}%`, `${timeText((seconds * (1 - part)) / part)} left`)
  }
  return shown.join(", ")
}
