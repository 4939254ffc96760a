/**
 * Opens links in a tab of their own with Ctrl, ⌘ or the middle button. A browser gives a copy of this tab's storage, and with it the key,
 * to tabs that the page opens, and to no others.
 */
import { isMac } from "../keyboard/Keys.ts"
import * as Key from "../server/Key.ts"

const isWanted = (event: MouseEvent): boolean => {
  if (event.type === "auxclick") return event.button === 1
  return isMac ? event.metaKey : event.ctrlKey
}

const openTab = (event: MouseEvent): void => {
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[href^="#"]')
  if (link === null || event.defaultPrevented || !isWanted(event) || Key.get() === undefined) return
  event.preventDefault()
  window.open(link.href, "_blank")
}

export const listen = (): void => {
  addEventListener("click", openTab)
  addEventListener("auxclick", openTab)
}
