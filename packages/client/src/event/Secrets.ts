/** Leaves the credentials of a request to a provider out of what is recorded of it. */
import {
  credentialsOf,
  Escapes,
  hasEscapes,
  inCutJson,
  inJson,
  mask,
  shortestCut,
  suspectsOf,
  withSuspects
} from "@tachograph/formats/Credentials"
import { decodedOrSame } from "@tachograph/formats/PercentDecoding"

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
  const passwords = addresses.flatMap(({ password }) => [password, decodedOrSame(password)])
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

/**
 * A JSON text without the credentials, in whatever form it writes them, and without the beginning of one where a text ends with it,
 * as one does that broke off. In one pass: a request with many cookies has hundreds of forms. Where two of them overlap, both are
 * masked as one.
 */
export const withoutSecrets = (text: string, secrets: ReadonlyArray<string>): string => {
  const withEscapes = hasEscapes(text)
  const forms = new Set(secrets.flatMap((secret) => inJson(secret, withEscapes)))
  forms.delete("")
  if (forms.size === 0) return text
  const cuts = Map.groupBy(secrets.flatMap(inCutJson), (form) => form.slice(0, shortestCut))
  // Where several begin at one place, the first one of the pattern is found.
  const any = new RegExp(
    [...forms, ...cuts.keys()]
      .sort((a, b) => b.length - a.length)
      .map(pattern)
      .join("|"),
    "g"
  )
  const escapes = new Escapes((at) => text[at] === "\\")
  const parts: Array<string> = []
  let masked = 0
  for (let found = any.exec(text); found !== null; found = any.exec(text)) {
    const { index } = found
    const [form] = found
    any.lastIndex = index + 1
    if (escapes.isEscaped(index)) continue
    const end = forms.has(form) ? index + form.length : endOfCut(text, index, cuts.get(form)!)
    if (end === undefined) continue
    if (parts.length === 0 || index >= masked) parts.push(text.slice(masked, index), mask)
    masked = Math.max(masked, end)
  }
  return parts.join("") + text.slice(masked)
}
