/** The lines of the stream of events: a summary each, with the cursor after it. */
import { Events } from "@tachograph/api"
import type { FollowedEvents, FollowPosition } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Operation from "./Operation.ts"

const encode = Schema.encodeEffect(Events.EventSummaryOnWire)

/** Shows that the connection is alive, and makes hosts and proxies that wait for a body send the headers. */
const emptyLine = "\n"

const linesOf = ({ events }: FollowedEvents): Effect.Effect<string> =>
  events.length === 0
    ? Effect.succeed(emptyLine)
    : Effect.map(
        Effect.forEach(events, ({ position, summary }) =>
          Effect.map(
            Effect.orDie(encode(summary)),
            (fields) => `${JSON.stringify({ ...fields, cursor: Events.position.encode(position) })}\n`
          )
        ),
        (lines) => lines.join("")
      )

/** The answer, with the cursor that it begins at. */
export const of = (followed: Stream.Stream<FollowedEvents>, from: FollowPosition): Operation.Lines =>
  new Operation.Lines(Stream.concat(Stream.make(emptyLine), Stream.mapEffect(followed, linesOf)), {
    [Events.cursorHeader]: Events.position.encode(from)!,
    // For proxies that collect answers.
    "x-accel-buffering": "no"
  })

/**
 * The seconds after which a client prefers a stream to end, if nothing came before (RFC 7240, section 4.3): one that cannot take
 * an answer without end. Undefined if it does not say.
 */
export const preferredWait = (prefer: string | undefined): number | undefined => {
  const seconds = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(prefer ?? "")?.[1]
  return seconds === undefined ? undefined : Math.min(Number(seconds), Events.maxWait)
}
