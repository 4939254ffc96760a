/** The option `--rate` of commands that work beside servers. */
import * as Option from "effect/Option"
import * as Setting from "./Setting.ts"

export const setting = Setting.make({
  name: "rate",
  metavar: "PERCENT",
  description: "How much of the time it works; after each step it pauses, so that servers go on recording",
  default: "50%",
  expected: "a share of the time from 1% to 100%",
  parse: (text) =>
    Option.filter(
      Option.map(Option.fromNullishOr(/^(\d{1,3})%?$/.exec(text)), ([, percent]) => Number(percent) / 100),
      (share) => share > 0 && share <= 1
    )
})
