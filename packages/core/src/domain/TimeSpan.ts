/** Stretches of time such as 30m, 12h, 90d and 4w. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

const units: Readonly<Record<string, Duration.Duration>> = {
  m: Duration.minutes(1),
  h: Duration.hours(1),
  d: Duration.days(1),
  w: Duration.weeks(1)
}

export const parse = (text: string): Option.Option<Duration.Duration> => {
  const [, count, unit] = /^([1-9]\d{0,4})([mhdw])$/.exec(text) ?? []
  return count === undefined ? Option.none() : Option.some(Duration.times(units[unit!]!, Number(count)))
}
