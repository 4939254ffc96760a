/** Pages of the messages of a session. */
import type { Message } from "@tachograph/formats"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { Overloaded, type StorageUnavailable } from "../domain/Errors.ts"
import type { EventId } from "../domain/Event.ts"
import { Damage } from "../payload/format/Damage.ts"
import { MessageTexts } from "./MessageTexts.ts"
import type { Listed, NumberedPage, NumberedQuery } from "./NumberedPage.ts"
import type { SessionOutline } from "./SessionOutline.ts"

export interface MessageQuery extends NumberedQuery {
  /** Only messages with a higher number. */
  readonly above?: number | undefined
  /** With the JSON texts of the messages. */
  readonly isVerbatim?: boolean | undefined
  /** Called with the size of the page so far (bytes), which only grows. False: the process holds too much already. */
  readonly reserve?: ((bytes: number) => Effect.Effect<boolean>) | undefined
}

/** A message of a session. */
export interface SessionMessage {
  /** Counted from 1, in the order in which they were carried first. */
  readonly number: number
  /** The call that carried it first, and when that was. */
  readonly eventId: EventId
  readonly at: DateTime.Utc
  readonly from: "input" | "output"
  /** Undefined if it cannot be read. */
  readonly message: Message | undefined
  /** Null where it was not asked for, and where no value of the call is the message alone. */
  readonly verbatim: string | null
}

export interface MessagePage extends NumberedPage<SessionMessage> {
  /** How many of the calls that were read for it are damaged: their messages are left out. */
  readonly damagedCalls: number
}

/** A page of messages ends when the texts that it was read from have this many characters. */
const maxPageLength = 4 * 1024 * 1024

/** `count` is how many messages the page could have without its limits. */
export const messagesOf = Effect.fnUntraced(function* (
  { calls, damagedCalls, outline, pieces }: SessionOutline,
  numbers: ReadonlyArray<number>,
  count: number,
  { isVerbatim = false, reserve }: MessageQuery
): Effect.fn.Return<Listed<MessagePage>, Overloaded | StorageUnavailable> {
  const texts = new MessageTexts(pieces, isVerbatim)
  const rows: Array<SessionMessage> = []
  const damaged: Array<{ readonly id: EventId; readonly damage: Damage }> = []
  let pageLength = 0
  for (const number of numbers) {
    const { call, source } = outline.messages[number - 1]!
    const { at, id } = calls[call]!
    const text = yield* texts.read(calls[call]!, source)
    if (text instanceof Damage) damaged.push({ id, damage: text })
    const { length, message, verbatim } = text instanceof Damage ? unreadable : text
    pageLength += length + (verbatim?.length ?? 0)
    if (rows.length > 0 && pageLength > maxPageLength) break
    if (reserve !== undefined && !(yield* reserve(pageLength))) return yield* new Overloaded()
    rows.push({ number, eventId: id, at, from: "answer" in source ? "output" : "input", message, verbatim })
  }
  const next = rows.length < count ? rows.at(-1)?.number : undefined
  return { page: { rows, next, damagedCalls }, damaged }
})

const unreadable = { message: undefined, verbatim: null, length: 0 }
