/** What a key is called in bindings: `j`, `N`, `Enter`, `Mod+k`. */

type Pressed = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">

/** Letters of other scripts than Latin name the key that has a Latin letter on most keyboards. */
const letterOf = ({ code, key, shiftKey }: Pressed): string => {
  const [, letter] = /^Key([A-Z])$/.exec(code) ?? []
  if (letter === undefined || !/^\p{L}$/u.test(key) || /\p{Script=Latin}/u.test(key)) return key
  return shiftKey ? letter : letter.toLowerCase()
}

/** `Mod` is ⌘ on a Mac and Ctrl elsewhere. Undefined for keys with other modifiers, which are the system's and the browser's. */
export const keyName = (pressed: Pressed, isMac: boolean): string | undefined => {
  const { altKey, ctrlKey, metaKey, shiftKey } = pressed
  const [isMod, isOther] = isMac ? [metaKey, ctrlKey] : [ctrlKey, metaKey]
  if (altKey || isOther || (isMod && shiftKey)) return undefined
  const name = letterOf(pressed)
  return isMod ? `Mod+${name.toLowerCase()}` : name
}

/** Whether a key belongs to an input method, which may take Enter and Escape too. Safari says so by 229 alone. */
export const isComposing = ({ isComposing, keyCode }: Pick<KeyboardEvent, "isComposing" | "keyCode">): boolean =>
  isComposing || keyCode === 229
