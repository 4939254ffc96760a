/**
 * Decides which values become pieces. The limits were chosen by measuring whole agent runs, and change the stored size by a
 * few percent. None of them is part of the format, so they may be changed while old packs stay readable.
 */

/**
 * Minimum size of an element of a conversation, in bytes. Low enough for short messages, because an element that is not a
 * piece interrupts the run that references its neighbours.
 */
export const minHistoryBytes = 16

/** Minimum size of a string in a message or an output, or of an element of an array there, in bytes. Deflate finds shorter ones. */
export const minPartBytes = 256

/** Minimum size of a string within a part, in bytes. Higher, because a part nearly always recurs as a whole. */
export const minStringInPartBytes = 512

/** Minimum size of a string to store once per project, in bytes: it is likely a document or an image. */
export const minSharedBytes = 8192

/** The same for a setting, a value beside the conversation such as a system prompt or the tools, in bytes. */
const minSharedSettingBytes = 1024

export const isShared = (bytes: number, isSetting: boolean): boolean =>
  bytes >= (isSetting ? minSharedSettingBytes : minSharedBytes)

/** Keys of values that a client sends unchanged with every call of every session. Each is one piece. */
export const settings: ReadonlySet<string> = new Set([
  "functions",
  "instructions",
  "response_format",
  "system",
  "system_instruction",
  "systemInstruction",
  "tools",
  "ai.prompt.tools",
  "gen_ai.request.available_tools",
  "gen_ai.system_instructions",
  "gen_ai.tool.definitions",
  "llm.tools"
])

/** Whether the element at `at` is an instruction message, which is the same in every session of an agent. */
export const isInstruction = (text: Buffer, at: number): boolean =>
  /^\{\s*"role"\s*:\s*"(?:system|developer)"/.test(text.toString("latin1", at, at + 64))

/** Nesting depth of objects and arrays that are searched for pieces. Deeper ones are stored, but nothing in them is a piece. */
export const maxDepth = 32

/** Maximum number of candidates in a value, far more than conversations have. Values after them are not searched. */
export const maxCandidates = 50_000

/**
 * Maximum number of parts within each other, innermost first; arrays around them become none. Each is hashed, and arrays that only
 * nest would be hashed once for each of theirs. Messages have two or three.
 */
export const maxPartLevels = 6

/** Number of elements at the end of a conversation that may differ in the next call, for example in cache control marks. */
export const unstableElements = 4

/** Maximum number of known prefixes per session: one for each conversation of an agent and its subagents. */
export const maxKnownPrefixes = 4
