/** Where an API key is typed or pasted. */
import { useState } from "preact/hooks"
import * as Key from "../server/Key.ts"

/** `enter` is called with what can be a key. Otherwise `foreign` is the first character that no key has. */
export const useKeyField = (enter: (key: string) => void) => {
  const [text, setText] = useState("")
  const [foreign, setForeign] = useState<string>()
  return {
    foreign,
    field: {
      type: "password",
      autocomplete: "off",
      spellcheck: false,
      value: text,
      onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => setText(currentTarget.value)
    } as const,
    onSubmit: (event: Event): void => {
      event.preventDefault()
      const key = Key.trim(text)
      setForeign(Key.foreignCharacter(key))
      if (key !== "" && Key.foreignCharacter(key) === undefined) enter(key)
    }
  }
}
