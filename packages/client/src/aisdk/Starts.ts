/** Calls of the AI SDK that are under way, until their end is told. */
import { isObject } from "../event/Event.ts"
import type { CallContext } from "../context/Context.ts"
import type { Told } from "../event/Secrets.ts"

export type Fields = Readonly<Record<string, unknown>>

export interface Started {
  readonly inputs: Fields
  /** What surrounded the call when it began. */
  readonly context: CallContext
  /** What the start told of credentials. */
  readonly told: Told
  readonly occurredAt: Date
  readonly startedAt: number
}

/** Some may never be said to have ended. */
const maxStarted = 1_000

/** The texts of a value, written as in JSON, so that they can be looked for in it. */
const textsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [JSON.stringify(value).slice(1, -1)]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : []
}

const isAsked = ({ inputs }: Started, request: string): boolean => {
  const { messages } = inputs
  return textsIn(Array.isArray(messages) ? messages.at(-1)?.content : undefined).every((text) => request.includes(text))
}

export class Starts {
  readonly #lost: () => void
  /** Of version 7. */
  readonly #byCall = new Map<string, Started>()
  /**
   * Of version 6, which has no ids. A call without streaming has one object for its model from the start of a step to its end; a
   * stream has not, but tells which request was sent, which holds the texts of the last message.
   */
  readonly #byModel: Array<{ readonly model: object; readonly started: Started }> = []

  /** `lost` is called for each call that is forgotten, because too many are under way. */
  constructor(lost: () => void) {
    this.#lost = lost
  }

  get size(): number {
    return this.#byCall.size + this.#byModel.length
  }

  /** The event is that of the start of a step. */
  add({ callId, model }: Fields, started: Started): void {
    if (typeof callId === "string") this.#byCall.set(callId, started)
    else if (isObject(model)) this.#byModel.push({ model, started })
    if (this.size <= maxStarted) return
    const [oldest] = this.#byCall.keys()
    if (this.#byModel.length > 0) this.#byModel.shift()
    else this.#byCall.delete(oldest!)
    this.#lost()
  }

  /** Adds what is known of the inputs later. */
  complete({ callId }: Fields, inputs: Fields): void {
    const started = typeof callId === "string" ? this.#byCall.get(callId) : undefined
    if (started !== undefined)
      this.#byCall.set(callId as string, { ...started, inputs: { ...inputs, ...started.inputs } })
  }

  /** The start that an event belongs to, which is the end of it. */
  take(event: Fields): Started | undefined {
    const { callId } = event
    if (typeof callId !== "string") {
      const index = this.#indexOf(event)
      return index === -1 ? undefined : this.#byModel.splice(index, 1)[0]!.started
    }
    const started = this.#byCall.get(callId)
    this.#byCall.delete(callId)
    return started
  }

  /** Takes those that are still under way. Of version 6 they may as well have failed. */
  takeOpen(): ReadonlyArray<Started> {
    const open = [...this.#byCall.values()]
    this.#byCall.clear()
    return open
  }

  #indexOf({ model, request, stepNumber }: Fields): number {
    const index = this.#byModel.findIndex((entry) => entry.model === model)
    if (index !== -1 || !isObject(model) || !isObject(request)) return index
    const body = typeof request["body"] === "string" ? request["body"] : (JSON.stringify(request["body"]) ?? "")
    return this.#byModel.findIndex(
      ({ model: other, started }) =>
        (other as Fields)["modelId"] === model["modelId"] &&
        started.inputs["stepNumber"] === stepNumber &&
        isAsked(started, body)
    )
  }
}
