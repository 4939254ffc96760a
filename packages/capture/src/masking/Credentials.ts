/** Where requests to providers and gateways hold credentials, so that none of them gets into an event that repeats it. */
import { decodedOrSame } from "../PercentDecoding.ts"
import { remembering } from "./Memo.ts"

/** The last word of the name of a credential, or all of it. */
const names =
  /(?:^|-)(?:authorization|auth|cookie|\w*token|\w*secrets?|\w*passwords?|passwd|pwd|pass|passphrase|passcode|passkey|pat|otp|credentials?|sig(?:nature)?|jwt|assertion|bearer|keys?|(?:api|access|auth|secret|private|public|functions?|subscription|master|admin|host|client|app|user|account|service|project|license)keys?)$/

/** Keys that open nothing: they name what is stored, sent or repeated. */
const namingKeys = /(?:^|-)(?:idempotency|cache|partition|routing|sort|shard|surrogate|websocket|trace)-key$/

/** In a query only: Azure's functions and OAuth take credentials by this name, which headers have for other things. */
const parameters = /^code$/

/** `X-Api-Key`, `x_api_key`, `xApiKey` and `api.key2` in words, without a number at the end. */
const wordsOf = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1-$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1-$2")
    .replace(/[_.\s]/g, "-")
    // Each run of digits is looked at once, not once for each of its digits.
    .replace(/(?:-|(?<!\d))\d+$/, "")
    .toLowerCase()

/** Whether it is a name of credentials, as it is written or in words: `APIKey` and `ApiKEY`. */
export const isNamed = (name: string): boolean =>
  [name.toLowerCase(), wordsOf(name)].some((words) => names.test(words) && !namingKeys.test(words))

/** One request after the other has the same headers. */
const isNamedHeader = remembering(isNamed)

/** A scheme of RFC 9110 before the value, whatever the header is called. */
export const scheme = /^(?:bearer|basic|digest|negotiate)\s+\S/i

/** What ends a name that is no credential's: of things that an event may well repeat, and that are often random. */
const harmless =
  /(?:^|-)(?:id|ids|uuid|guid|session|affinity|conversation|thread|request|trace|traceparent|tracestate|baggage|b3|span|user|person|email|tags?|model|version|agent|organization|project|hash|digest|checksum|md5|etag|match|date|time|timestamp|since|range|type|length|encoding|language|host|origin|referer|url|uri|path|beta|betas|via|forwarded)$|^(?:accept|content|sec|x-stainless|x-forwarded)-|^accept$|(?:^|-)key$/

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Where a digit, a capital and a small letter follow each other, in a random text about every second character. */
const changes = /(?<=\d)\D|(?<=[A-Za-z])\d|(?<=[a-z])[A-Z]|(?<=[A-Z])[a-z]/g

/** No shorter word looks random (characters). */
const shortestRandom = 12

/** Whether a value looks random: it has a long word that changes often between digits, capitals and small letters. */
export const looksRandom = (value: string): boolean =>
  value.length >= shortestRandom &&
  !uuid.test(value) &&
  !/\s|:\/\//.test(value) &&
  (value.match(/[A-Za-z\d]{12,}/g) ?? []).some((word) => /\d/.test(word) && (word.match(changes) ?? []).length >= 5)

/** A shorter value could be an ordinary word of the payload. */
const shortest = 8

/** What is given for a key where a server on one's own machine needs none: words that a payload may have. */
const placeholder =
  /^(?:bearer\s+)?(?:sk-)?(?:lm-studio|placeholder|anything|something|unused|(?:not|no|none)[-_ ]?(?:api[-_ ]?)?(?:key[-_ ]?)?(?:needed|required|used|set|key)|(?:your|my|dummy|fake|local|test)[-_ ]?(?:api[-_ ]?)?key)$/i

/** What stands for a credential. */
export const mask = "[redacted]"

type Pairs = Iterable<readonly [name: string, value: string]>

/** The value of `name=value` or `name="value"`. Equals signs at the end belong to Base64. */
const withoutName = (word: string): string => /^[\w.-]+="?([^="].*?)"?$/s.exec(word)?.[1] ?? word

/** Cookies that open something. Others hold words, such as a language, unless they look random. */
const opening = /sess|sid(?![a-z])|csrf|xsrf|auth|login|remember|ticket/i

const isOpening = (cookie: string): boolean => {
  const [name = "", value] = cookie.split(/=(.*)/s)
  return value === undefined || opening.test(name) || isNamed(name) || looksRandom(withoutName(cookie))
}

/** `Bearer KEY`, `Scheme name=value, name=value`; of cookies `name=value; name=value`. */
const partsOf = (name: string, value: string): ReadonlyArray<string> => {
  if (/cookie$/i.test(name)) return value.split(/;\s*/).filter(isOpening).map(withoutName)
  return value.split(",").flatMap((part) => {
    const words = part.trim().split(/\s+/)
    // The first of several is a scheme.
    return words.slice(words.length > 1 ? 1 : 0).map(withoutName)
  })
}

/** The text whose bytes in UTF-8 are given as characters; the same where they are none. */
const ofUtf8 = (bytes: string): string =>
  decodedOrSame(bytes.replace(/[%\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`))

/** What `Basic` holds: a name and a password, or a key in the place of either. */
const basicPartsOf = (value: string): ReadonlyArray<string> => {
  const [, encoded] = /^basic\s+([A-Za-z\d+/]+=*)$/i.exec(value) ?? []
  if (encoded === undefined) return []
  try {
    const bytes = atob(encoded)
    return [bytes, ofUtf8(bytes)].flatMap((text) => {
      const [, name = "", password = ""] = /^([^:]*):?(.*)$/s.exec(text) ?? []
      return password === "" || looksRandom(name) ? [name, password] : [password]
    })
  } catch {
    return []
  }
}

/** Settings of a gateway, in JSON within a header, such as Portkey's: their texts, with the names that these have. */
const pairsWithin = (value: string): ReadonlyArray<readonly [name: string, value: string]> => {
  if (!value.startsWith("{")) return []
  const found: Array<readonly [string, string]> = []
  try {
    const open: Array<readonly [name: string, part: unknown]> = [["", JSON.parse(value)]]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [name, part] = next
      if (typeof part === "string") found.push([name, part])
      else if (typeof part === "object" && part !== null) {
        // Those of a list have its name.
        for (const [key, inner] of Object.entries(part)) open.push([Array.isArray(part) ? name : key, inner])
      }
    }
  } catch {
    // No JSON: a text like any other.
  }
  return found
}

/** Names and values of a query as they were sent. */
const rawPairs = (query: string): Array<[string, string]> =>
  query.split("&").map((pair) => {
    const [name = "", value = ""] = pair.split(/=(.*)/s)
    return [name, value]
  })

/** Names and values of a query, which begins after its question mark, decoded and as they were sent. */
export const parametersOf = (query: string): ReadonlyArray<readonly [name: string, value: string]> =>
  // Most calls have none.
  query === "" ? [] : [...new URLSearchParams(query), ...rawPairs(query)]

/** How many characters credentials, and what may be one, may have together. Servers take no more than a quarter in headers and target. */
export const maxCredentialCharacters = 64 * 1024

/** The credentials in the headers and the query of a request, and `others` that it has, the longest first. */
export const credentialsOf = (headerPairs: Pairs, queryPairs: Pairs, others: ReadonlyArray<string> = []) => {
  const found = [...others]
  for (const [name, value] of headerPairs) {
    for (const [within, text] of pairsWithin(value)) if (isNamed(within)) found.push(text)
    if (!isNamedHeader(name) && !scheme.test(value)) continue
    for (const text of [value, ...partsOf(name, value), ...basicPartsOf(value)]) found.push(text)
  }
  for (const [name, value] of queryPairs) if (parameters.test(name) || isNamed(name)) found.push(value)
  return longestFirst(found.filter((text) => text.length >= shortest && !placeholder.test(text)))
}

/** One may be a part of another. */
const longestFirst = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(texts)].sort((a, b) => b.length - a.length)

/** More words than this are a text, and no list. */
const longestList = 8

const listed = (value: string): ReadonlyArray<string> => {
  const words = value.split(/[\s,;]+/, longestList + 1)
  return words.length <= longestList ? words : []
}

/** Values that look like credentials under names that say nothing of it. */
export const suspectsOf = (headerPairs: Pairs, queryPairs: Pairs): ReadonlyArray<string> =>
  [...headerPairs, ...queryPairs]
    .flatMap((pair) => [pair, ...pairsWithin(pair[1])])
    .flatMap(([name, value]) => {
      if (value.length < shortestRandom) return []
      const random = [...new Set([value, ...listed(value)])].filter(looksRandom)
      // Few values are.
      return random.length === 0 || harmless.test(wordsOf(name)) ? [] : random
    })

/**
 * The credentials, and those of the suspects that the request's body does not hold: what an application writes into its payload is
 * payload, and in an answer any other one can only be an echo.
 */
export const withSuspects = (
  credentials: ReadonlyArray<string>,
  suspects: ReadonlyArray<string>,
  isInBody: (text: string) => boolean
): ReadonlyArray<string> => {
  const echoes = suspects.filter((suspect) => !inJson(suspect).some(isInBody))
  return echoes.length === 0 ? credentials : longestFirst([...credentials, ...echoes])
}

/**
 * How much may be compared to find credentials in a text of a length. Ordinary ones need less than one for each unit of it. Only who knows
 * the credentials can make a text that needs more: then the search gives up, because it would take minutes.
 */
export const maxWorkFor = (length: number): number => 8 * length + 16 * 1024 * 1024

/** What is written so everywhere: no encoding changes it. */
const unreserved = /^[\w.~-]*$/

/** A text as it is, decoded, and percent-encoded: all that may be, without slashes as Python does it, slashes alone, and twice. */
const encodingsOf = (text: string): ReadonlyArray<string> => {
  if (unreserved.test(text)) return [text]
  const decoded = decodedOrSame(text)
  const plain = decoded.length >= shortest ? decoded : text
  const encoded = encodeURIComponent(plain.toWellFormed())
  const all = [encoded, encoded.replaceAll("%2F", "/"), plain.replaceAll("/", "%2F"), encoded.replaceAll("%", "%25")]
  const lower = all.map((each) => each.replace(/%(?:25)?[\dA-F]{2}/g, (escape) => escape.toLowerCase()))
  return [...new Set([text, plain, ...all, ...lower, encoded.replaceAll("%20", "+")])]
}

const unicodeEscape = (character: string): string => `\\u00${character.charCodeAt(0).toString(16)}`

const upperEscape = (character: string): string => unicodeEscape(character).toUpperCase().replace("U", "u")

/** What can be written as `\u00` and two digits: what is escaped already is not escaped again. */
const [punctuation, printable] = [/(?!["\\])[ -/:-@[-`{-~]/g, /(?!["\\])[ -~]/g]

/** A text between the quotes of JSON, as most write it, and as PHP does. */
const plainly = (text: string): ReadonlyArray<string> => {
  const written = JSON.stringify(text).slice(1, -1)
  return [written, written.replaceAll("/", "\\/")]
}

/** As Go, Java's Gson and .NET write it, and as no writer needs to. */
const escaped = (text: string): ReadonlyArray<string> => {
  const written = JSON.stringify(text).slice(1, -1)
  return [
    written.replace(/[&<>]/g, unicodeEscape),
    written.replace(/[&<>=']/g, unicodeEscape),
    written.replaceAll('\\"', '"').replace(/["+&<>'`]/g, upperEscape),
    ...[punctuation, printable].flatMap((characters) =>
      [unicodeEscape, upperEscape].map((escape) => written.replace(characters, escape))
    )
  ]
}

/** How much of a credential at the end of a text is masked that breaks off within it (characters). Less may be said on purpose. */
export const shortestCut = 12

/**
 * Tells whether a character of a JSON text is escaped: then what seems to begin there begins as another character. It is asked in the
 * order of the text, and looks at each character once.
 */
export class Escapes {
  readonly #isBackslash: (at: number) => boolean
  /** The backslashes that end where it was asked last. */
  #from = 0
  #to = 0

  constructor(isBackslash: (at: number) => boolean) {
    this.#isBackslash = isBackslash
  }

  isEscaped(at: number): boolean {
    let from = at
    while (from > this.#to && this.#isBackslash(from - 1)) from--
    if (from > this.#to) this.#from = from
    this.#to = at
    return (at - this.#from) % 2 === 1
  }
}

/** How a JSON text may write a credential without escapes: what stands before a quote is the end of a text then. */
export const inCutJson = (credential: string): ReadonlyArray<string> =>
  encodingsOf(credential).filter((text) => text.length > shortestCut && JSON.stringify(text) === `"${text}"`)

/**
 * How a JSON text may write a credential, between its quotes, by itself or as a part of a URL. The text of an answer that is no JSON,
 * such as one that broke off, is a text in the event, where what was escaped is escaped again. `withEscapes` says
 * whether the text writes some character by its number: most have none, and most forms are.
 */
export const inJson = (credential: string, withEscapes = true): ReadonlyArray<string> => {
  const encodings = encodingsOf(credential)
  const written = encodings.flatMap(plainly)
  if (withEscapes) written.push(...encodings.flatMap(escaped))
  return [...new Set([...written, ...written.map((text) => JSON.stringify(text).slice(1, -1))])]
}
