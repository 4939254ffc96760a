/** What tells the body of a call from those of other services, in the formats of several vendors. */
import { get, isEmpty } from "../json/Read.ts"

/** Messages of a mail or a chat service have no roles, and are for no model. Those of a call may lack a role: the provider refuses it. */
export const hasMessages = (body: unknown, isModelInPath: boolean): boolean => {
  const messages = get(body, "messages")
  if (isModelInPath || !isEmpty(get(body, "model"))) return !isEmpty(messages) || Array.isArray(messages)
  return (
    Array.isArray(messages) && (messages.length === 0 || messages.some((message) => get(message, "role") !== undefined))
  )
}
