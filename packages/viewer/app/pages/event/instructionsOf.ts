/** All instructions of a call: those that stand apart, and those that begin its messages. */
import type { Conversation, Part } from "../../server/Types.ts"

export const instructionsOf = ({ input, instructions, leading_instructions }: Conversation): ReadonlyArray<Part> => [
  ...instructions,
  ...input.slice(0, leading_instructions).flatMap(({ parts }) => parts)
]
