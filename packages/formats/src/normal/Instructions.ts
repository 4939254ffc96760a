/**
 * Which messages are instructions. Some formats have instructions apart from the messages, others among them, and many take both: a call's
 * instructions are those that stand apart, and the system and developer messages at the beginning.
 */
import type { Message } from "../Format.ts"

const instructing: ReadonlySet<string> = new Set(["system", "developer"])

export const isInstruction = ({ role }: Pick<Message, "role">): boolean => instructing.has(role)

/** How many messages at the beginning are instructions. */
export const leadingInstructions = (messages: ReadonlyArray<Pick<Message, "role">>): number => {
  const end = messages.findIndex((message) => !isInstruction(message))
  return end === -1 ? messages.length : end
}
