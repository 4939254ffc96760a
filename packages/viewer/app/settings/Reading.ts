/** How conversations are shown. */
import * as Setting from "./Setting.ts"

/** Texts as Markdown, or as they were sent. */
const text = Setting.make("text", ["markdown", "raw"])

/** Thinking and tools: one line each, or opened. */
const thinking = Setting.make("thinking", ["folded", "open"])
const tools = Setting.make("tools", ["folded", "open"])

/** Whether keys without a modifier do something (WCAG 2.1.4). */
export const shortcuts = Setting.make("shortcuts", ["on", "off"])

/** What messages are shown by. */
export const use = () => ({
  isMarkdown: text.use() === "markdown",
  isThinkingOpen: thinking.use() === "open",
  areToolsOpen: tools.use() === "open"
})

const switchOf = <A extends string>(setting: Setting.Setting<A>, off: A, on: A) => ({
  useIsOn: () => setting.use() === on,
  run: () => setting.set(setting.get() === off ? on : off)
})

/** What a person may switch, each with its name on a button, and its key. */
export const switches = [
  { name: "Raw text", keys: "m", does: "As it was sent, or as Markdown", ...switchOf(text, "markdown", "raw") },
  { name: "Thinking", keys: "t", does: "Thinking opened or folded", ...switchOf(thinking, "folded", "open") },
  { name: "Tools", keys: "x", does: "Tools opened or folded", ...switchOf(tools, "folded", "open") }
] as const
