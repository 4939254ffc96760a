/** Finds headers of Tachograph that the proxy does not know: most are known ones with a letter wrong, which count for nothing. */
import { nearest } from "@tachograph/capture/Spelling"
import * as CallHeaders from "./CallHeaders.ts"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"

const known: ReadonlySet<string> = new Set([...Object.values(CallHeaders.groupings), "x-tachograph-key"])
const shortNames = Array.from(known, (name) => name.slice(ForwardedHeaders.own.length))

/** How many are reported: who sends a new one with each call must not fill the log. */
const maxReported = 20

/** Characters of one that are reported. */
const maxLength = 60

export class UnknownHeaders {
  readonly #reported = new Set<string>()

  /** Those of a request that were not found before, each with the name that was meant, if it is near. */
  findNew(headers: ForwardedHeaders.RawHeaders): ReadonlyArray<string> {
    const found: Array<string> = []
    for (let at = 0; at < headers.length && this.#reported.size < maxReported; at += 2) {
      const name = headers[at]!.toLowerCase()
      if (!ForwardedHeaders.isOwn(name) || known.has(name) || this.#reported.has(name)) continue
      this.#reported.add(name)
      const meant = nearest(name.slice(ForwardedHeaders.own.length), shortNames)
      const hint = meant === undefined ? "" : ` (did you mean ${ForwardedHeaders.own}${meant}?)`
      found.push(`${name.slice(0, maxLength)}${hint}`)
    }
    return found
  }
}
