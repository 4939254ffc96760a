/** What several options have in common. */
import * as Option from "effect/Option"
import * as Setting from "../config/Setting.ts"

export const parseBytes = (min: number, max: number) => (text: string) => {
  const [, number, unit] = /^(\d+)\s*(|B|KiB|MiB|GiB)$/i.exec(text) ?? []
  const factor = { b: 1, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 }[unit?.toLowerCase() || "b"] ?? 1
  return Option.filter(Option.some(Number(number) * factor), (bytes) => bytes >= min && bytes <= max)
}

export const timeout = (name: string, description: string, defaultSeconds: number) =>
  Setting.make({
    name,
    metavar: "TIME",
    description,
    default: `${defaultSeconds}s`,
    expected: `a time from 1s to 1h, such as ${defaultSeconds}s or 2m`,
    parse: (text) => {
      const [, number, unit] = /^(\d+)(s|m|h)$/.exec(text) ?? []
      const seconds = Number(number) * ({ s: 1, m: 60, h: 3600 }[unit ?? ""] ?? 0)
      return Option.filter(Option.some(seconds * 1_000), (ms) => ms >= 1_000 && ms <= 3_600_000)
    }
  })
