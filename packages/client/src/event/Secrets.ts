/** Leaves the credentials of a request to a provider out of what is recorded of it. */
import {
  credentialsOf,
  Escapes,
  hasEscapes,
  inCutJson,
  inJson,
  looksRandom,
  mask,
  maxWorkFor,
  shortestCut,
  suspectsOf,
  withSuspects
} from "@tachograph/formats/Credentials"
import { decodedOrSame } from "@tachograph/formats/PercentDecoding"
import { remembering } from "@tachograph/formats/Remember"

export type Pairs = ReadonlyArray<readonly [name: string, value: string]>

/** The texts that `fetch` may repeat as it refuses them, whatever the header is called. */
const unsendable = (pairs: Pairs): ReadonlyArray<string> =>
  pairs.flatMap(([name, value]) => [
    ...(/^[\w!#$%&'*+.^`|~-]+$/.test(name) ? [] : [name]),
    // It leaves blank ends out.
    ...(/^[\t\x20-\x7e\x80-\xff]*$/.test(value) ? [] : [value, value.replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, "")])
  ])

/** What may hold a credential, of a call however it is told. */
export interface Told {
  readonly headers: Pairs
  /** Where the call went. */
  readonly addresses: ReadonlyArray<URL>
  /** Credentials from elsewhere, and what may be one. */
  readonly credentials?: ReadonlyArray<string>
  readonly suspects?: ReadonlyArray<string>
}

/** What is masked in an event, the longest first: one rule for the tap and the telemetry. `inputs` is the body of the request. */
export const secretsOf = (
  { addresses, credentials = [], headers, suspects = [] }: Told,
  inputs: string
): ReadonlyArray<string> => {
  const queries = addresses.flatMap(({ searchParams }) => [...searchParams])
  const passwords = addresses.flatMap(({ password, username }) =>
    [password, password === "" || looksRandom(username) ? username : ""].flatMap((text) => [text, decodedOrSame(text)])
  )
  return withSuspects(
    credentialsOf(headers, queries, [...credentials, ...passwords, ...unsendable(headers)]),
    [...suspects, ...suspectsOf(headers, queries)],
    (text) => inputs.includes(text)
  )
}

const pattern = (text: string): string => text.replace(/[\\/^$.*+?()[\]{}|-]/g, "\\$&")

/** Where a text ends that breaks off within one of the forms that begin there. */
const endOfCut = (text: string, at: number, forms: ReadonlyArray<string>): number | undefined => {
  for (const form of forms) {
    const length = text.slice(at, at + form.length).indexOf('"')
    if (length >= shortestCut && form.startsWith(text.slice(at, at + length))) return at + length
  }
  return undefined
}

/** Of a longer form, only so many characters are looked for at each place of a text. */
const maxBeginning = 32

/** What may begin at a place: whole forms, the longest first, and forms of which a beginning may be the end of a text. */
interface Beginning {
  readonly forms: Array<string>
  readonly cuts: Array<string>
}

/** By what the forms begin with. */
const beginningsOf = (forms: Iterable<string>, cuts: ReadonlyArray<string>): ReadonlyMap<string, Beginning> => {
  const byStart = new Map<string, Beginning>()
  const at = (start: string): Beginning => {
    const known = byStart.get(start) ?? { forms: [], cuts: [] }
    byStart.set(start, known)
    return known
  }
  for (const form of forms) at(form.slice(0, maxBeginning)).forms.push(form)
  for (const form of cuts) at(form.slice(0, shortestCut)).cuts.push(form)
  // Where one begins, so do those that it begins with.
  return new Map(
    Array.from(byStart.keys(), (start) => {
      const all = Array.from(start, (_, length) => byStart.get(start.slice(0, length + 1)) ?? { forms: [], cuts: [] })
      const forms = all.flatMap((each) => each.forms).sort((a, b) => b.length - a.length)
      return [start, { forms, cuts: all.flatMap((each) => each.cuts) }]
    })
  )
}

/** What a text is looked through for. */
interface Search {
  /** Finds where a form may begin. */
  readonly any: RegExp
  readonly beginnings: ReadonlyMap<string, Beginning>
}

/** What to look for, as JSON: one call after the other has the same credentials, and a search takes longer to make than to run. */
const searchFor = remembering((said): Search => {
  const [secrets, withEscapes] = JSON.parse(said) as readonly [ReadonlyArray<string>, boolean]
  const forms = new Set(secrets.flatMap((secret) => inJson(secret, withEscapes)))
  forms.delete("")
  const beginnings = beginningsOf(forms, secrets.flatMap(inCutJson))
  // Where several begin at one place, the first one of the pattern is found.
  const starts = [...beginnings.keys()].sort((a, b) => b.length - a.length).map(pattern)
  return { any: new RegExp(starts.join("|"), "g"), beginnings }
})

/**
 * A JSON text without the credentials, in whatever form it writes them, and without the beginning of one where a text ends with it,
 * as one does that broke off. In one pass: a request with many cookies has hundreds of forms. Where two of them overlap, both are
 * masked as one. Throws where it would take too long.
 */
export const withoutSecrets = (text: string, secrets: ReadonlyArray<string>): string => {
  const { any, beginnings } = searchFor(JSON.stringify([secrets, hasEscapes(text)]))
  if (beginnings.size === 0) return text
  // It may have thrown within the last text.
  any.lastIndex = 0
  const escapes = new Escapes((at) => text[at] === "\\")
  const parts: Array<string> = []
  let masked = 0
  let work = maxWorkFor(text.length)
  const isAt = (form: string, index: number): boolean => {
    work -= form.length
    if (work < 0) throw new Error("Looking for credentials takes too long")
    return text.startsWith(form, index)
  }
  for (let found = any.exec(text); found !== null; found = any.exec(text)) {
    const { index } = found
    const [start] = found
    const { cuts, forms } = beginnings.get(start)!
    any.lastIndex = index + 1
    if (escapes.isEscaped(index)) continue
    const form = forms.find((form) => form === start || isAt(form, index))
    const end = form === undefined ? endOfCut(text, index, cuts) : index + form.length
    if (end === undefined) continue
    if (parts.length === 0 || index >= masked) parts.push(text.slice(masked, index), mask)
    masked = Math.max(masked, end)
  }
  return parts.join("") + text.slice(masked)
}
