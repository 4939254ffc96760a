/** All instructions of a call: those that stand apart, and those that begin its messages. */
import type { Conversation, Part } from "../server/Types.ts"
import * as Words from "./Words.ts"

export const instructionsOf = ({ input, instructions, leading_instructions }: Conversation): ReadonlyArray<Part> => [
  ...instructions,
  ...input.slice(0, leading_instructions).flatMap(({ parts }) => parts)
]

/** The same as one text. */
export const instructionsText = (conversation: Conversation): string =>
  instructionsOf(conversation).map(Words.ofPart).join("\n\n")
