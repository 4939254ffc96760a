/** Light, dark, or as the system says. */
import * as Setting from "./Setting.ts"

export const setting = Setting.make("theme", ["system", "light", "dark"])

export const apply = (): void => {
  const theme = setting.get()
  if (theme === "system") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme
}

const next = { system: "light", light: "dark", dark: "system" } as const

export const cycle = (): void => {
  setting.set(next[setting.get()])
  apply()
}
