/** How far an export or an import is: how much, how fast, and how long it takes. */
import * as Bytes from "./Bytes.ts"
import * as Figures from "./Figures.ts"

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
