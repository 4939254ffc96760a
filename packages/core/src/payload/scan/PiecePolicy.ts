/**
 * Which values become pieces. All of the numbers here were settled by measuring whole runs: they move sizes by a few
 * percent, and none is part of the format, so that any of them may change while old packs stay readable.
 */

/** An element of a conversation, in bytes: even a short message, because a gap would break the run that stands for all. */
export const historyBytes = 16

/** A string in a message or an output, or an element of an array there, in bytes. What is shorter, deflate finds again. */
export const partBytes = 256

/** A string in a part, in bytes: the part is found again as a whole, nearly always. */
export const stringInPartBytes = 512

/** A string that is likely a document or an image: kept once per project. In bytes. */
export const sharedBytes = 8192

/** A value that stands directly in the inputs, beside the conversation: a system prompt, the tools. In bytes. */
const sharedSettingBytes = 1024

export const isShared = (bytes: number, isSetting: boolean): boolean =>
  bytes >= (isSetting ? sharedSettingBytes : sharedBytes)

/** Lists beside the conversation that a client sends alike with every call of every session: each is one piece, whole. */
export const settings: ReadonlySet<string> = new Set([
  "functions",
  "instructions",
  "response_format",
  "system",
  "system_instruction",
  "systemInstruction",
  "tools"
])

/** A first message that is the same in every session of an agent. `at` is where the element starts. */
export const isInstruction = (text: Buffer, at: number): boolean =>
  /^\{\s*"role"\s*:\s*"(?:system|developer)"/.test(text.toString("latin1", at, at + 64))

/** Objects and arrays in each other that are looked into; what is deeper is taken as it stands. */
export const maxDepth = 32

/** Candidates in one value; what comes after so many is taken as it stands. Far more than any conversation has. */
export const maxCandidates = 50_000

/** Of the elements at the end of a conversation so many may differ in the next call, as with marks for a provider's cache. */
export const unsettledElements = 4

/** Conversations in one session whose known prefixes are remembered: an agent and those that it calls on. */
export const maxKnownPrefixes = 4
