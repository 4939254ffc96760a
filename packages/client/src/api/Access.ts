/** Checks the address of a Tachograph and the key for it. What is wrong is not printed: it may be, or hold, the key. */

/** Throws a `TypeError` for an address that `fetch` refuses, or that is none of a server. It may be a path alone. */
export const checkUrl = (url: string): void => {
  const { password, username } = URL.canParse(url) ? new URL(url) : { password: "", username: "" }
  if (username !== "" || password !== "" || /[?#]/.test(url)) {
    throw new TypeError("url: expected an address without user, password, query and fragment")
  }
}

/** The address below which the interface is: that of the interface itself is one that people give too. */
export const serverOf = (url: string): string =>
  url
    .trim()
    .replace(/\/+$/, "")
    .replace(/\/api\/v1$/, "")

const canSend = (apiKey: string): boolean => {
  try {
    return new Headers({ authorization: `Bearer ${apiKey}` }).get("authorization") !== "Bearer"
  } catch {
    return false
  }
}

/** Throws a `TypeError` for a key that no header can hold, such as one with a line break within it. */
export const checkKey = (apiKey: unknown): void => {
  if (typeof apiKey !== "string" || !canSend(apiKey)) {
    throw new TypeError("apiKey: expected the key of a project, as a text that can be sent in a header")
  }
}
