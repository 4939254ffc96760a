/** Follows events over an `Access`: goes on with the last cursor where a connection ends or breaks. */
import { type EventSummary, type Operations, parsedLines } from "@tachograph/client/api"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { CommandError } from "../terminal/CliErrors.ts"
import type { Access } from "./Access.ts"
import * as Refusal from "./Refusal.ts"

/** The pause before the next attempt (ms), and how many in a row may fail. */
const pauseMs = 500
const maxFailures = 120

export interface FollowedEvent extends EventSummary {
  /** Where to go on after it. */
  readonly cursor: string
}

/**
 * Runs `onEvent` for each event, in order, without end. Fails if there is no connection for a minute, or none at first, and
 * where the server refuses to go on, as it does when the key was revoked.
 */
export const follow = Effect.fnUntraced(function* <E, R>(
  { response }: Access,
  query: Operations["streamEvents"]["input"],
  onEvent: (event: FollowedEvent) => Effect.Effect<void, E, R>
): Effect.fn.Return<never, E | CommandError, R> {
  let cursor = query.cursor
  let failures = maxFailures
  for (;;) {
    const answer = yield* Effect.catch(response("streamEvents", { ...query, cursor }), (error) =>
      ++failures > maxFailures || !Refusal.mayEnd(error) ? Effect.fail(error) : Effect.undefined
    )
    if (answer !== undefined) {
      failures = 0
      cursor ??= answer.headers.get("tachograph-cursor") ?? undefined
      // A connection that breaks ends the body.
      const lines = Stream.fromAsyncIterable(parsedLines(answer.body!), String).pipe(Stream.catch(() => Stream.empty))
      yield* Stream.runForEach(lines, (line) => {
        const event = line as FollowedEvent
        cursor = event.cursor
        return onEvent(event)
      })
    }
    yield* Effect.sleep(pauseMs)
  }
})
