/** Follows events over an `Access`: goes on with the last cursor where a connection ends or breaks. */
import type { EventSummary, Operations } from "@tachograph/client/api"
import * as Effect from "effect/Effect"
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

/** The lines of a body, as they come. It is given up when the effect is interrupted. */
const forEachLine = <E, R>(
  body: ReadableStream<Uint8Array>,
  onLine: (line: string) => Effect.Effect<void, E, R>
): Effect.Effect<void, E, R> =>
  Effect.acquireUseRelease(
    Effect.sync(() => body.getReader()),
    (reader) =>
      Effect.gen(function* () {
        const decoder = new TextDecoder()
        let rest = ""
        for (;;) {
          // A connection that breaks ends the body.
          const piece = yield* Effect.promise(() => reader.read().catch(() => ({ done: true, value: undefined })))
          if (piece.done) return
          const lines = (rest + decoder.decode(piece.value, { stream: true })).split("\n")
          rest = lines.pop()!
          for (const line of lines) yield* onLine(line)
        }
      }),
    (reader) => Effect.promise(() => reader.cancel().catch(() => {}))
  )

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
      yield* forEachLine(answer.body!, (line) => {
        if (line === "") return Effect.void
        const event = JSON.parse(line) as FollowedEvent
        cursor = event.cursor
        return onEvent(event)
      })
    }
    yield* Effect.sleep(pauseMs)
  }
})
