/** One of the two that are compared: what is known of it, its settings, and its messages as far as they are loaded. */
import { withoutInstructions } from "@tachograph/client/compare"
import { useState } from "preact/hooks"
import { api, ServerError, toError } from "../../server/Client.ts"
import type { Conversation, EventSummary, Message, Session } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import { summaryOf } from "../../server/useCall.ts"

export type Kind = "sessions" | "calls"

export type Said = Conversation["input"][number] & Pick<Message, "number" | "is_damaged">

/** Messages of a page. */
const limit = 1_000

/** Larger calls (bytes) are read when asked. */
const askedBytes = 4_000_000

interface First {
  /** One of them. */
  readonly session?: Session
  readonly call?: EventSummary
  /** Of the call, or of the first call of the session. Undefined where it cannot be read, or was not asked for. */
  readonly settings: Conversation | undefined
  readonly messages: ReadonlyArray<Said>
  readonly next: string | null
  /** Bytes of a call that is so large that it is not read before somebody asks. */
  readonly largeBytes?: number
}

const settingsOf = async (event_id: string | undefined, signal: AbortSignal): Promise<Conversation | undefined> => {
  if (event_id === undefined) return undefined
  try {
    return await api.getEventMessages({ event_id }, { signal })
  } catch (error) {
    if (error instanceof ServerError && error.type.startsWith("event-")) return undefined
    throw error
  }
}

const readSession = async (id: string, signal: AbortSignal): Promise<First> => {
  const [session, calls, page] = await Promise.all([
    api.getSession({ session: id }, { signal }),
    api.listEvents({ session: id, limit: 1 }, { signal }),
    api.listSessionMessages({ session: id, limit }, { signal })
  ])
  const settings = await settingsOf(calls.events[0]?.event_id, signal)
  return { session, settings, messages: withoutInstructions(page.messages), next: page.next_cursor }
}

const readCall = async (id: string, isAsked: boolean, signal: AbortSignal): Promise<First> => {
  const call = await summaryOf(id, signal)
  const largeBytes = call.inputs_bytes + call.output_bytes
  if (!isAsked && largeBytes > askedBytes) {
    return { call, settings: undefined, messages: [], next: null, largeBytes }
  }
  const settings = await api.getEventMessages({ event_id: id }, { signal })
  const messages = [...settings.input, ...settings.output].map((message, index) => ({ ...message, number: index + 1 }))
  return { call, settings, messages: withoutInstructions(messages), next: null }
}

/** What was read after the first page. */
interface Rest {
  readonly of: First
  readonly messages: ReadonlyArray<Said>
  readonly next: string | null
  readonly error?: ServerError
  readonly isReading?: boolean
}

export const useSide = (kind: Kind, id: string, isAsked: boolean) => {
  const { again, error, value } = useAnswer(
    (signal) => (kind === "sessions" ? readSession(id, signal) : readCall(id, isAsked, signal)),
    JSON.stringify([kind, id, isAsked])
  )
  const [rest, setRest] = useState<Rest>()
  if (value === undefined) return { again, error, value: undefined }
  const all: Rest = rest?.of === value ? rest : { of: value, messages: value.messages, next: value.next }
  const more = async () => {
    const { error: _, ...known } = all
    if (known.next === null || known.isReading === true) return
    setRest({ ...known, isReading: true })
    try {
      const { messages, next_cursor } = await api.listSessionMessages({ session: id, cursor: known.next, limit })
      setRest({ of: value, messages: [...known.messages, ...messages], next: next_cursor })
    } catch (failure) {
      setRest({ ...known, isReading: false, error: toError(failure) })
    }
  }
  return { again, error, value: { ...value, ...all, more } }
}

export type Side = NonNullable<ReturnType<typeof useSide>["value"]>
