/** Where requests to providers and gateways hold credentials, so that none of them gets into an event that repeats it. */

const headers = /^(?:.*-)?(?:authorization|auth|cookie|token|secret|(?:api|access|tachograph|subscription)-key)$/i

const parameters: ReadonlySet<string> = new Set(["key", "access_token", "api_key", "api-key"])

/** A shorter value could be an ordinary word of the payload. */
const shortest = 8

/** What stands for a credential. */
export const mask = "[redacted]"

type Pairs = Iterable<readonly [name: string, value: string]>

/** The value of `name=value` or `name="value"`. Equals signs at the end belong to Base64. */
const withoutName = (word: string): string => /^[\w.-]+="?([^="].*?)"?$/s.exec(word)?.[1] ?? word

/** `Bearer KEY`, `Scheme name=value, name=value`; of cookies `name=value; name=value`. */
const partsOf = (name: string, value: string): ReadonlyArray<string> => {
  if (/cookie$/i.test(name)) return value.split(/;\s*/).map(withoutName)
  const words = value.split(/[\s,]+/)
  // The first of several is a scheme.
  return words.slice(words.length > 1 ? 1 : 0).map(withoutName)
}

/** The credentials in the headers and the query of a request, and `others` that it has, the longest first. */
export const credentialsOf = (headerPairs: Pairs, queryPairs: Pairs, others: ReadonlyArray<string> = []) => {
  const found = [...others]
  for (const [name, value] of headerPairs) if (headers.test(name)) found.push(value, ...partsOf(name, value))
  for (const [name, value] of queryPairs) if (parameters.has(name)) found.push(value)
  // One may be a part of another.
  return [...new Set(found.filter(({ length }) => length >= shortest))].sort((a, b) => b.length - a.length)
}

/** How a JSON text may write a credential, between its quotes. */
export const inJson = (credential: string): ReadonlyArray<string> => {
  const written = JSON.stringify(credential).slice(1, -1)
  return written.includes("/") ? [written, written.replaceAll("/", "\\/")] : [written]
}
