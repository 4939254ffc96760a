/** Names of sessions, agents, versions and people that recorders are given: no call is lost for one that is too long. */

/** Characters (code points) of a name. */
const maxLength = 255

/** What no name may have: U+0000, and halves of surrogate pairs. */
const forbidden = /[\0\u{D800}-\u{DFFF}]/gu

/** What no URL can hold as a part of its path. */
const stepOfPath = /^\.{1,2}$/

/** A name without what none may have. */
export const allowed = (name: string): string =>
  stepOfPath.test(name) ? name.replaceAll(".", "\uFFFD") : name.replace(forbidden, "\uFFFD")

/** Whether a name has more characters than an event may have of one. */
export const isTooLong = (name: string): boolean => Array.from(name).length > maxLength

/**
 * A name that is too long, cut. It ends with its SHA-256, in hexadecimal digits, so that calls which were apart stay apart: undefined
 * where that cannot be computed.
 */
export const shortened = (name: string, sha256: string | undefined): string => {
  const end = sha256 === undefined ? "" : `-${sha256}`
  return (
    Array.from(name)
      .slice(0, maxLength - end.length)
      .join("") + end
  )
}
