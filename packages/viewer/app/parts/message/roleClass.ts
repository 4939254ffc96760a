const roles = new Set(["system", "developer", "user", "assistant", "tool"])

/** The classes of a message's element. A role is what a stranger sent, and could name any class of the pages. */
export const roleClass = (role: string): string => (roles.has(role) ? `message ${role}` : "message")
