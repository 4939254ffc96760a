/** Where an axis has its ticks: at round numbers, of which the last is no less than the most that is shown. */

/** Steps between ticks, in tens. */
const decimals = [1, 2, 5, 10]

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Steps of durations from a second on (ms). */
const durations = [1, 2, 5, 10, 15, 30]
  .map((seconds) => 1_000 * seconds)
  .concat([1, 2, 5, 10, 15, 30].map((minutes) => minutes * minuteMs))
  .concat([1, 2, 6, 12, 24].map((hours) => hours * hourMs))

/** Intervals that an axis has at most. */
const maxIntervals = 4

export type Steps = (least: number) => number

/** The smallest step of its kind that is no less. */
export const decimal: Steps = (least) => {
  const power = 10 ** Math.floor(Math.log10(least))
  // What is computed by floating point is a little more or less.
  return power * (decimals.find((step) => step * power >= least * 0.999_999) ?? 10)
}

/** Of counts: no less than 1. */
export const whole: Steps = (least) => Math.max(1, decimal(least))

export const duration: Steps = (least) =>
  least <= 500
    ? decimal(least)
    : (durations.find((step) => step >= least) ?? decimal(least / (24 * hourMs)) * 24 * hourMs)

/** From 0 on. Only that, where nothing is shown. */
export const ticksOf = (most: number, steps: Steps): ReadonlyArray<number> => {
  if (!(most > 0)) return [0]
  const step = steps(most / maxIntervals)
  // One of something does not fill a chart.
  const least = steps === whole && step === 1 ? maxIntervals : 1
  return Array.from({ length: Math.max(least, Math.ceil((most / step) * 0.999_999)) + 1 }, (_, index) => index * step)
}

/** Slots between two labels of the axis of time. */
const strides = { hour: [1, 2, 3, 6, 12], day: [1, 2, 7, 14, 30] } as const

/** The least distance of two labels (pixels). */
const labelPixels = 64

/** The indexes of the slots that have a label, the last of all among them. */
export const labelled = (by: "hour" | "day", count: number, width: number): ReadonlyArray<number> => {
  const least = (labelPixels * count) / Math.max(1, width)
  const stride = strides[by].find((each) => each >= least) ?? count
  return Array.from({ length: Math.ceil(count / stride) }, (_, index) => count - 1 - index * stride)
}
