/** What a model has said in a stream, as far as it came. The telemetry of version 7 tells it only of streams that end. */
import { isObject } from "../event/Event.ts"
import { sizeOf } from "./Size.ts"

type Fields = Readonly<Record<string, unknown>>

interface AnswerSoFar {
  readonly take: (part: unknown) => void
  /** In the shape of a step's result. */
  readonly result: () => Fields
}

/** Parts of a stream that are whole. */
const whole = new Set<unknown>(["tool-call", "tool-result", "source", "file"])

/** Asks `hold` before it keeps more bytes, and keeps nothing any more once there is no room. */
export const make = (hold: (bytes: number) => boolean): AnswerSoFar => {
  const content: Array<Fields> = []
  const open = new Map<string, { readonly type: string; text: string }>()
  let response: Fields | undefined
  let isOver = false
  const hasRoomFor = (value: unknown) => {
    if (!isOver && hold(sizeOf(value))) return true
    isOver = true
    content.length = 0
    open.clear()
    return false
  }

  return {
    take: (part) => {
      if (!isObject(part)) return
      const { delta, id, type } = part
      if (whole.has(type)) {
        if (hasRoomFor(part)) content.push(part)
      } else if (type === "response-metadata") response = { id, modelId: part["modelId"], timestamp: part["timestamp"] }
      else if ((type === "text-delta" || type === "reasoning-delta") && typeof delta === "string") {
        if (!hasRoomFor(delta)) return
        const key = `${type} ${String(id)}`
        const block = open.get(key) ?? { type: type.slice(0, -"-delta".length), text: "" }
        if (!open.has(key)) content.push(block)
        open.set(key, block)
        block.text += delta
      }
    },
    result: () => (content.length === 0 ? {} : { content, response })
  }
}
