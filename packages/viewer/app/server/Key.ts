/**
 * The API key of this tab. It comes from the fragment of the link that the server prints, or from the person. Tabs that are opened from this
 * one have it too (`NewTab.ts`), each until it is closed. Without one, the host's own cookies may say who it is.
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

/** The first character that no key has: a browser could not send it. */
export const foreignCharacter = (text: string): string | undefined => /[^\x20-\x7e]/u.exec(text)?.[0]

/** Blanks and invisible characters around it come with copying. */
export const trim = (text: string): string => text.replace(/^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu, "")

const isSendable = (text: string | undefined): boolean =>
  text !== undefined && text !== "" && foreignCharacter(text) === undefined

export const get = (): string | undefined => {
  key ??= stored()
  return isSendable(key) ? key : undefined
}

const listeners = new Set<() => void>()

/** Calls the listener whenever another key is set: what was read with the one before is not to be shown. */
export const whenSet = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const set = (value: string | undefined): void => {
  key = value
  try {
    if (value === undefined) sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, value)
  } catch {
    // Storage is blocked: the key lasts until the page is closed.
  }
  for (const listener of Array.from(listeners)) listener()
}

/** The keys that this tab has had, by the projects that they open. */
const allName = "tachograph.keys"

let all: Readonly<Record<string, string>> | undefined

const storedAll = (): Readonly<Record<string, string>> => {
  try {
    return JSON.parse(sessionStorage.getItem(allName) ?? "{}")
  } catch {
    return {}
  }
}

const keysByProject = () => (all ??= storedAll())

const setAll = (keys: Readonly<Record<string, string>>): void => {
  all = keys
  try {
    if (Object.keys(keys).length === 0) sessionStorage.removeItem(allName)
    else sessionStorage.setItem(allName, JSON.stringify(keys))
  } catch {
    // As above.
  }
}

export const projects = (): ReadonlyArray<string> => Object.keys(keysByProject()).toSorted()

/** Notes which project the key opens. */
export const remember = (project: string): void => {
  const key = get()
  if (key !== undefined) setAll({ ...keysByProject(), [project]: key })
}

/** Goes on with the key of a project. */
export const open = (project: string): void => set(keysByProject()[project])

/** Forgets the key of this tab, and asks for another one. */
export const forget = (): void => {
  const key = get()
  setAll(Object.fromEntries(Object.entries(keysByProject()).filter(([, each]) => each !== key)))
  set(undefined)
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return ""
  }
}

/** Takes the key of `#key=…`, and removes it from the address and the history. */
export const takeFromFragment = (): void => {
  const [, given] = /^#key=([^&]*)/.exec(location.hash) ?? []
  if (given === undefined) return
  history.replaceState(history.state, "", `${location.pathname}${location.search}#/`)
  const text = trim(decode(given))
  if (isSendable(text)) set(text)
}
