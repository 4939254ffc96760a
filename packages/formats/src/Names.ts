/** Names of sessions, agents, versions and people that recorders are given: no call is lost for one that is too long. */

/** Characters (code points) of a name. */
const maxLength = 255

/** Whether no event may have the name. */
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
