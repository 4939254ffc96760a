/** Where requests to providers and gateways hold credentials, so that none of them gets into an event that repeats it. */

const headers =
  /^(?:.*[-_])?(?:authorization|auth|cookie|token|secret|(?:api|access|tachograph|subscription)[-_]?key)$/i

const parameters = /^(?:key|(?:.*[-_])?sig(?:nature)?)$/i

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
  for (const [name, value] of queryPairs) if (parameters.test(name) || headers.test(name)) found.push(value)
  // One may be a part of another.
  return [...new Set(found.filter(({ length }) => length >= shortest))].sort((a, b) => b.length - a.length)
}

const attempt = (convert: (text: string) => string, text: string): string => {
  try {
    return convert(text)
  } catch {
    return text
  }
}

/** A text as it is, percent-encoded, and decoded. */
const encodingsOf = (text: string): ReadonlyArray<string> => {
  const decoded = attempt(decodeURIComponent, text)
  const plain = decoded.length >= shortest ? decoded : text
  const encoded = attempt(encodeURIComponent, plain)
  const lower = encoded.replace(/%[\dA-F]{2}/g, (escape) => escape.toLowerCase())
  return [text, plain, encoded, lower, encoded.replaceAll("%20", "+")]
}

const unicodeEscape = (character: string): string => `\\u00${character.charCodeAt(0).toString(16)}`

/** A text between the quotes of JSON, as most write it, and as PHP, Go and .NET do. */
const escapesOf = (text: string): ReadonlyArray<string> => {
  const written = JSON.stringify(text).slice(1, -1)
  return [
    written,
    written.replaceAll("/", "\\/"),
    written.replace(/[&<>]/g, unicodeEscape),
    written
      .replaceAll('\\"', '"')
      .replace(/["+&<>'`]/g, (character) => unicodeEscape(character).toUpperCase().replace("U", "u"))
  ]
}

/**
 * How a JSON text may write a credential, between its quotes, by itself or as a part of a URL. The text of an answer that is no JSON,
 * such as one that broke off, is a text in the event, where what was escaped is escaped again.
 */
export const inJson = (credential: string): ReadonlyArray<string> => {
  const written = encodingsOf(credential).flatMap(escapesOf)
  return [...new Set([...written, ...written.map((text) => JSON.stringify(text).slice(1, -1))])]
}
