/** Names of fields that an application misspells, where its types do not say so. Nothing fails by them. */
import { hint } from "@tachograph/capture/Spelling"
import type { Warn } from "./Warnings.ts"

/** The most names that are told: an application may compute them. */
const maxTold = 100

/** Says which fields of what a method is given are none of `names`. */
export type Check = (method: string, given: unknown, names: ReadonlySet<string>) => void

/** Says each once. */
export const make = (warn: Warn): Check => {
  const told = new Set<string>()
  return (method, given, names) => {
    if (typeof given !== "object") return warn(`${method} expects an object`, undefined, "")
    for (const name of Object.keys(given ?? {})) {
      if (names.has(name)) continue
      const unknown = `${method} does not know ${name}`
      if (told.has(unknown) || told.size >= maxTold) continue
      told.add(unknown)
      warn(`${unknown}${hint(name, names)}`, undefined, "")
    }
  }
}
