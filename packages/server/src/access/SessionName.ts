/** Finds the session that somebody means who gives no whole name: a call of it, or the beginning of its name. */
import * as Effect from "effect/Effect"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Table from "../terminal/Table.ts"
import type { Access } from "./Access.ts"

/** Characters of a name that are its beginning: fewer would often mean another session than was meant. */
export const minCharacters = 8

/** Sessions that are looked at, the latest first: one page, however many a project has. */
const maxSessions = 1_000

/** Calls in the millisecond of an id that are looked at. */
const maxCalls = 1_000

/** Candidates that a message names. */
const maxNamed = 5

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The call of an id, undefined where there is none. Lists have no filter by id, but by the time in it. */
export const callOf = Effect.fnUntraced(function* ({ list }: Access, id: string) {
  if (!uuid7.test(id)) return undefined
  const ms = Number.parseInt(id.slice(0, 13).replace("-", ""), 16)
  const period = { received_after: new Date(ms).toISOString(), received_before: new Date(ms + 1).toISOString() }
  const calls = yield* list("listEvents", period, maxCalls)
  return calls.find(({ event_id }) => event_id === id)
})

const beginningWith = Effect.fnUntraced(function* ({ list }: Access, beginning: string) {
  const sessions = yield* list("listSessions", {}, maxSessions)
  return sessions.map(({ session }) => session).filter((name) => name.startsWith(beginning))
})

const ambiguous = (beginning: string, names: ReadonlyArray<string>) => {
  const more = names.length > maxNamed ? `, and ${names.length - maxNamed} more` : ""
  return new CommandError({
    message: `Several sessions begin with ${Table.quoted(beginning)}: ${names.slice(0, maxNamed).map(Table.printable).join(", ")}${more}`
  })
}

/** `given` is the name of no session. It may be cut, as lists cut it. */
export const find = Effect.fnUntraced(function* (
  access: Access,
  given: string
): Effect.fn.Return<string, CommandError> {
  const call = yield* callOf(access, given)
  if (call !== undefined) return call.session
  const beginning = given.replace(/\u2026$/, "")
  if (Array.from(beginning).length < minCharacters) {
    return yield* new CommandError({ message: `There is no session ${Table.quoted(given)}` })
  }
  const [name, ...others] = yield* beginningWith(access, beginning)
  if (others.length > 0) return yield* ambiguous(beginning, [name!, ...others])
  if (name !== undefined) return name
  return yield* new CommandError({
    message: `There is no session ${Table.quoted(given)}, and none of the latest begins so`
  })
})
