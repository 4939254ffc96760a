/**
 * Which messages are instructions. Some formats have instructions apart from the messages, others among them, and many take both: a call's
 * instructions are those that stand apart, and the system and developer messages at the beginning. Coding agents also put some before the words of
 * the user, in messages of the user.
 */
import type { Message, Part } from "../Format.ts"
import { stringify } from "../json/ExactJson.ts"

const instructing: ReadonlySet<string> = new Set(["system", "developer"])

export const isInstruction = ({ role }: Pick<Message, "role">): boolean => instructing.has(role)

/** How many messages at the beginning are instructions. */
export const leadingInstructions = (messages: ReadonlyArray<Pick<Message, "role">>): number => {
  const end = messages.findIndex((message) => !isInstruction(message))
  return end === -1 ? messages.length : end
}

/** A call in normal form, or what has all instructions apart. */
export interface Instructed {
  readonly instructions: ReadonlyArray<{ readonly type: string }>
  readonly input?: ReadonlyArray<{ readonly role: string; readonly parts: ReadonlyArray<{ readonly type: string }> }>
}

/** All instructions of a call as they were sent: those that stand apart, and those that begin its messages. */
export const instructionsOf = ({ input = [], instructions }: Instructed): ReadonlyArray<Part> =>
  [...instructions, ...input.slice(0, leadingInstructions(input)).flatMap(({ parts }) => parts)] as ReadonlyArray<Part>

/**
 * What Claude Code (`system-reminder`), Codex (`environment_context`, and older ones `user_instructions`) and Gemini CLI (`session_context`) put before
 * the words of the user. Other elements may be the words of an application's users.
 */
const reminder = /^\s*<(system-reminder|environment_context|user_instructions|session_context)>[^]*<\/\1>\s*$/

/** How Codex gives the rules of the project. */
export const rulesOfProject = /^# AGENTS\.md instructions[^\n]*\s+<INSTRUCTIONS>[^]*<\/INSTRUCTIONS>$/

/** Whether a part is one: of an instructing message, or what a client put before the words of the user. */
export const isInstructionPart = (message: Pick<Message, "role">, { content, type }: Part): boolean =>
  isInstruction(message) ||
  (message.role === "user" &&
    type === "text" &&
    typeof content === "string" &&
    (reminder.test(content) || rulesOfProject.test(content.trim())))

/** Its characters: of texts those that the model reads, of all else those of its JSON. */
export const charactersOf = (parts: ReadonlyArray<Part>): number =>
  parts.reduce((sum, part) => sum + Array.from(textOf(part)).length, 0)

/** A part as text. */
export const textOf = (part: Part): string => (typeof part["content"] === "string" ? part["content"] : stringify(part))
