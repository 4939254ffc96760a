/** What failed calls say about it. Lists have the type of an error only, so each of their outputs is read. */
import type { EventSummary } from "@tachograph/client/api"
import * as ErrorBodies from "@tachograph/formats/facts/Errors"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Access } from "./Access.ts"

type Listed = Pick<EventSummary, "error_type" | "event_id" | "output_bytes">

/** The largest output that is read. An answer that broke off can be long. */
const maxBytes = 1024 * 1024

/** Outputs that are read at the same time. */
const concurrency = 8

/** Null where it says nothing, is no error, or cannot be read: the rest of the call can be printed all the same. */
export const of = (access: Access, { error_type, event_id, output_bytes }: Listed): Effect.Effect<string | null> =>
  error_type === null || output_bytes > maxBytes
    ? Effect.succeed(null)
    : access.read("getEventOutput", { event_id }).pipe(
        Effect.map(ErrorBodies.messageOf),
        Effect.catch(() => Effect.succeed(null))
      )

/** Runs `use` for each call with its message, in order, while the messages of the next ones are read. */
export const forEach = <Call extends Listed, E, R>(
  access: Access,
  calls: ReadonlyArray<Call>,
  use: (call: Call, message: string | null) => Effect.Effect<void, E, R>
): Effect.Effect<void, E, R> =>
  Stream.fromIterable(calls).pipe(
    Stream.mapEffect((call) => Effect.map(of(access, call), (message) => ({ call, message })), { concurrency }),
    Stream.runForEach(({ call, message }) => use(call, message))
  )

/** A call as JSON, with the message beside the status, type and code of its error. */
export const json = <Call extends Listed>(call: Call, message: string | null): string =>
  JSON.stringify({ ...call, error_message: message })
