/**
 * The API key of this tab. It comes from the fragment of the link that the server prints, or from the person, and is kept until the
 * tab is closed. Without one, the host's own cookies may say who it is.
 */
const name = "tachograph.key"

let key: string | undefined

const stored = (): string | undefined => {
  try {
    return sessionStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

export const get = (): string | undefined => (key ??= stored())

export const set = (value: string | undefined): void => {
  key = value
  try {
    if (value === undefined) sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, value)
  } catch {
    // Storage is blocked: the key lasts until the page is closed.
  }
}

/** Takes the key of `#key=…`, and removes it from the address and the history. */
export const takeFromFragment = (): void => {
  const [, given] = /^#key=([^&]+)$/.exec(location.hash) ?? []
  if (given === undefined) return
  set(decodeURIComponent(given))
  history.replaceState(null, "", `${location.pathname}${location.search}#/`)
}
