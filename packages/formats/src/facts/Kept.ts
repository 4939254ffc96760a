/** What providers keep of calls: conversations, and responses and interactions whose answers come by another request. */
import type { LaterAnswer } from "../Format.ts"
import { get, text } from "../json/Read.ts"

/** The id of the conversation of a request or an answer, which may be all that is said of it. */
export const conversationIn = (value: unknown): string | null =>
  text(get(value, "conversation", "id") ?? get(value, "conversation"))

/** Statuses of a response or an interaction that has not stopped. */
export const running: ReadonlySet<string> = new Set(["queued", "in_progress"])

/** How a response or an interaction comes by another request. */
export const later: Pick<LaterAnswer, "idIn" | "isRunning" | "isEnd" | "isBackground"> = {
  idIn: (_, output) => get(output, "id"),
  isRunning: (output) => running.has(text(get(output, "status")) ?? ""),
  isEnd: (output) => {
    const status = text(get(output, "status"))
    return status !== null && !running.has(status)
  },
  isBackground: (output) => get(output, "background") === true
}
