/** The paths of the proxy: `/proxy/NAME/rest`, and what of them reaches the upstream. */

const form = /^\/proxy(?:\/([^/?]*)|(?=\?|$))(.*)$/s

export interface ProxyPath {
  /** The upstream's name. */
  readonly name: string
  /** Path and query below the upstream, as they were sent; empty, or with a slash or a question mark first. */
  readonly rest: string
}

/** Undefined if the URL is not one of the proxy. `url` is path and query below the base path. */
export const match = (url: string | undefined): ProxyPath | undefined => {
  const [, name = "", rest] = form.exec(url ?? "") ?? []
  return rest === undefined ? undefined : { name, rest }
}

/** The path of `rest`, without its query. */
const pathIn = (rest: string): string => rest.replace(/\?.*$/s, "")

/** What a line of a request may hold. A fragment is not part of one, and some servers take a backslash for a slash. */
const lineForm = /^[\x21\x22\x24-\x5b\x5d-\x7e\x80-\xff]*$/

/** How often an escape may stand in the place of another one's characters. A `%` that is escaped itself is seen however often it is. */
const rounds = 3

/** UTF-8 in more bytes than a character takes, which some servers decode all the same: of the first 64 characters and the next 64. */
const overlong = /(?:(\xc0|\xe0\x80|\xf0\x80\x80)|\xc1|\xe0\x81|\xf0\x80\x81)([\x80-\xbf])/g

/** Text of bytes, each as a character. */
const bytesOf = (text: string): string => Buffer.from(text).toString("latin1")

/** One round over the bytes of a path, after which look-alikes of ASCII are what they look like. */
const decoded = (bytes: string): string => {
  const unescaped = bytes
    .replaceAll(/%(?:25)+/g, "%")
    .replaceAll(/%u([\da-f]{4})/gi, (_escape, hex: string) => bytesOf(String.fromCharCode(parseInt(hex, 16))))
    .replaceAll(/%([\da-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replaceAll(overlong, (_bytes, isFirst: string | undefined, last: string) =>
      String.fromCharCode(last.charCodeAt(0) - (isFirst === undefined ? 0x40 : 0x80))
    )
  // Each character alone: reordering the marks of a long text takes time that grows with its square.
  const text = Buffer.from(unescaped, "latin1").toString()
  return bytesOf(text.replaceAll(/[^\0-\x7f]/gu, (character) => character.normalize("NFKC")))
}

/** What some servers leave out: spaces, controls, what cannot be seen, and what is no UTF-8. */
const ignored = /[\p{C}\p{Z}\ufffd]/gu

/** Some servers drop what follows one of these characters. */
const isDotSegment = (segment: string): boolean => /^\.\.?(?:[;?#].*)?$/.test(segment)

const isDotted = (path: string): boolean => path.split(/[/\\]/).some(isDotSegment)

/**
 * Whether a server that resolves or decodes the path in some way could leave the base path of the upstream, or take a part of it
 * for a host.
 */
export const isHostile = (rest: string): boolean => {
  if (!lineForm.test(rest) || rest.startsWith("//")) return true
  let path = pathIn(rest)
  if (!/[%\x80-\xff]/.test(path)) return isDotted(path)
  for (let round = 0; round < rounds; round++) path = decoded(path)
  const seen = Buffer.from(path, "latin1").toString()
  // A text in C ends at NUL; elsewhere it is a control like any other.
  return [seen, seen.replaceAll("\0", "?")].some((text) => isDotted(text.replaceAll(ignored, "")))
}
