/** The header of an answer that names the fields of the body which are unknown, so that a misspelt name does not vanish. */
import { ignoredHeader } from "@tachograph/api"
import type { Scan } from "@tachograph/core"
import type { Answer } from "./Answer.ts"

/** Characters of a name; the rest of a longer one is left out. */
const maxNameLength = 64

/** The header's value (bytes): hosts and proxies allow all headers together a few kilobytes. */
const maxBytes = 1024

/** Ends a name or a list that is cut. A dot within a name is escaped. */
const more = "..."

/** As in a URL, and a dot too: dots separate the names of a path. No surrogate stands alone, which UTF-8 cannot encode. */
const escaped = (name: string): string => {
  if (name === "") return '""'
  const characters = Array.from(name.slice(0, 2 * maxNameLength + 2))
  const kept = characters.slice(0, maxNameLength).join("").toWellFormed()
  const text = encodeURIComponent(kept).replaceAll(".", "%2E")
  return characters.length > maxNameLength ? text + more : text
}

/** The names in their order in the body, with commas between them, and dots within a path: `sesion, properties.input`. */
const valueOf = (ignored: ReadonlyArray<Scan.Path>): string => {
  let value = ""
  for (const path of ignored) {
    const name = path.map((part) => escaped(String(part))).join(".")
    const next = value === "" ? name : `${value}, ${name}`
    if (next.length > maxBytes - `, ${more}`.length) return value === "" ? more : `${value}, ${more}`
    value = next
  }
  return value
}

/** The answer, with the header if anything was ignored. */
export const name = (answer: Answer, ignored: ReadonlyArray<Scan.Path>): Answer =>
  ignored.length === 0 ? answer : { ...answer, headers: { ...answer.headers, [ignoredHeader]: valueOf(ignored) } }
