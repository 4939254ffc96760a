/** A session or a call that is compared with another one: what is known of it, its settings and its messages. */
import type { Conversation, EventSummary, Message, Session } from "@tachograph/client/api"
import { withoutInstructions } from "@tachograph/formats/normal/Comparison"
import * as Effect from "effect/Effect"
import type { CommandError } from "../terminal/CliErrors.ts"
import type { Access } from "./Access.ts"
import * as SessionName from "./SessionName.ts"

/** Messages of a session that are compared at most. */
export const maxMessages = 10_000

export interface Numbered extends Message {
  /** From 1. */
  readonly number: number
  readonly is_damaged?: true | undefined
}

export interface Side {
  readonly of: { readonly session: Session } | { readonly call: EventSummary }
  /** Those of the call, or of the first call of the session. Undefined where they cannot be read. */
  readonly settings: Conversation | undefined
  /** Without the instructions that begin them. */
  readonly messages: ReadonlyArray<Numbered>
  /** Whether there are more. */
  readonly isCut: boolean
}

const settingsOf = ({ read }: Access, event_id: string | undefined) =>
  event_id === undefined
    ? Effect.undefined
    : read("getEventMessages", { event_id }).pipe(
        Effect.catchIf(
          ({ refusal }) => refusal === "event-damaged" || refusal === "event-not-found",
          () => Effect.undefined
        )
      )

const ofSession = Effect.fnUntraced(function* (access: Access, session: Session) {
  const { session: name } = session
  const [first] = yield* access.list("listEvents", { session: name }, 1)
  const rows = yield* access.list("listSessionMessages", { session: name }, maxMessages + 1)
  return {
    of: { session },
    settings: yield* settingsOf(access, first?.event_id),
    messages: withoutInstructions(rows.slice(0, maxMessages)),
    isCut: rows.length > maxMessages
  } satisfies Side
})

const ofCall = Effect.fnUntraced(function* (access: Access, call: EventSummary) {
  const settings = yield* access.read("getEventMessages", { event_id: call.event_id })
  const messages = [...settings.input, ...settings.output].map((message, index) => ({ ...message, number: index + 1 }))
  return { of: { call }, settings, messages: withoutInstructions(messages), isCut: false } satisfies Side
})

const sessionOf = ({ read }: Access, session: string) =>
  read("getSession", { session }).pipe(
    Effect.catchIf(
      ({ refusal }) => refusal === "session-not-found",
      () => Effect.undefined
    )
  )

/** By the name of a session, the id of a call, or the beginning of the name of a session. */
export const find = Effect.fnUntraced(function* (access: Access, given: string): Effect.fn.Return<Side, CommandError> {
  const session = yield* sessionOf(access, given)
  if (session !== undefined) return yield* ofSession(access, session)
  const call = yield* SessionName.callOf(access, given)
  if (call !== undefined) return yield* ofCall(access, call)
  const name = yield* SessionName.find(access, given)
  return yield* ofSession(access, yield* access.read("getSession", { session: name }))
})
