/** Calls whose answer comes by another request, as far as this recorder has made them or seen their end. */
import * as Endings from "@tachograph/capture/Endings"
import type { Envelope } from "./Event.ts"

/** The names of a call, as its event has them. */
interface Names {
  readonly session: string
  readonly agent: string | undefined
  readonly agentVersion: string | undefined
  readonly person: string | undefined
}

/** What is known of a call, without credentials. */
interface Begun {
  readonly inputs: string
  readonly names: Names
  readonly model: string | undefined
  readonly occurredAt: string | undefined
}

/** What the event of an end is made of beside the answer. */
interface End {
  readonly inputs: string
  /** Undefined where the call is not known. */
  readonly names: Names | undefined
  /** What stands in the place of what is said of the request for it. */
  readonly envelope: Partial<Envelope>
}

/** All that the recorder has is of one project. */
const scope = ""

export class Later {
  readonly #begun = new Endings.BegunCalls<Begun>()

  /** Undefined where an answer is no end, or none that is to be recorded, or recorded already. */
  endOf(asked: Endings.Asked, status: number, output: string, endedAtMs: number): End | undefined {
    const known = this.#begun.find(scope, asked)
    if (known?.isEnded === true) return undefined
    const answer = Endings.endIn(asked, known !== undefined, status, output, endedAtMs)
    if (answer === null) return undefined
    const beside = { first_token_ms: undefined, duration_ms: undefined }
    if (known === undefined) {
      const inputs = Endings.inputsOf(asked)
      return { inputs, names: undefined, envelope: { ...beside, model: Endings.modelOf(answer) } }
    }
    const { inputs, model, names, occurredAt } = known.call
    if (occurredAt === undefined) return { inputs, names, envelope: { ...beside, model } }
    const duration_ms = Math.round(10 * (endedAtMs - Date.parse(occurredAt))) / 10
    return { inputs, names, envelope: { ...beside, model, occurred_at: occurredAt, duration_ms } }
  }

  /**
   * An event is made of a call, or of the end of the one that is `asked` for. Returns its idempotency key, where all events that have its
   * end are one.
   */
  made(later: Endings.Later | null, asked: Endings.Asked | undefined, call: Begun): string | undefined {
    const of = asked ?? later?.asked
    if (of === undefined) return undefined
    this.#begun.add(scope, of, call)
    if (asked === undefined && later?.hasEnded !== true) return undefined
    this.#begun.end(scope, of)
    return Endings.keyOf(of)
  }
}
