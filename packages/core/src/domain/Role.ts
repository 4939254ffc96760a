/** Who says something, in the words of all providers: `tool` for what tools answer, `system` for all instructions. */
export const roles = ["user", "assistant", "tool", "system"] as const

export type Role = (typeof roles)[number]
