/** How conversations are shown. */
import * as Setting from "./Setting.ts"

/** Texts as Markdown, or as they were sent. */
export const text = Setting.make("text", ["markdown", "raw"])

/** Thinking and tools: one line each, or opened. */
export const thinking = Setting.make("thinking", ["folded", "open"])
export const tools = Setting.make("tools", ["folded", "open"])

/** Whether keys without a modifier do something (WCAG 2.1.4). */
export const shortcuts = Setting.make("shortcuts", ["on", "off"])

export const toggle = <A extends string>(setting: Setting.Setting<A>, one: A, other: A): void =>
  setting.set(setting.get() === one ? other : one)
