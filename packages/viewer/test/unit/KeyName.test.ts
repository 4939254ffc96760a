import { describe, expect, it } from "vitest"
import { isComposing, keyName } from "../../app/keyboard/KeyName.ts"

const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false }
const press = (key: string, code: string, modifiers: Partial<typeof none> = {}) => ({
  key,
  code,
  ...none,
  ...modifiers
})

describe("the name of a key", () => {
  it("has ⌘ as its modifier on a Mac, and Ctrl elsewhere", () => {
    const [control, command] = [press("f", "KeyF", { ctrlKey: true }), press("f", "KeyF", { metaKey: true })]
    expect([keyName(control, false), keyName(command, false)]).toEqual(["Mod+f", undefined])
    expect([keyName(control, true), keyName(command, true)]).toEqual([undefined, "Mod+f"])
    expect(keyName(press("K", "KeyK", { ctrlKey: true, shiftKey: true }), false)).toBeUndefined()
    expect(keyName(press("@", "KeyQ", { altKey: true }), true)).toBeUndefined()
  })

  it("is that of the Latin letter where the keyboard has another script", () => {
    expect(keyName(press("о", "KeyJ"), false)).toBe("j")
    expect(keyName(press("Т", "KeyN", { shiftKey: true }), false)).toBe("N")
    expect(keyName(press("а", "KeyF", { ctrlKey: true }), false)).toBe("Mod+f")
    expect(keyName(press("ξ", "KeyJ"), false)).toBe("j")
    // Latin letters are where the keyboard has them.
    expect(keyName(press("j", "KeyC"), false)).toBe("j")
    expect(keyName(press("ü", "BracketLeft"), false)).toBe("ü")
    expect(keyName(press("Enter", "Enter"), false)).toBe("Enter")
  })

  it("does not count while an input method is used", () => {
    expect(isComposing({ isComposing: true, keyCode: 13 })).toBe(true)
    expect(isComposing({ isComposing: false, keyCode: 229 })).toBe(true)
    expect(isComposing({ isComposing: false, keyCode: 13 })).toBe(false)
  })
})
