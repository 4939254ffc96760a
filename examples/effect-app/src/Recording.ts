/** Records model calls in process, with the JSON texts that went over the wire. */
import { InProcess } from "@tachograph/router"
import { Effect } from "effect"

interface Call {
  readonly session: string
  /** The JSON text that was sent to the provider. */
  readonly request: string
  /** The JSON text that the provider returned. */
  readonly response: string
}

const runtime = { language: "typescript", language_version: process.versions.node, system: process.platform }

/** Succeeds when the event is committed. */
export const record = Effect.fn("record")(function* ({ request, response, session }: Call) {
  return yield* InProcess.record({
    event_name: "llm",
    fingerprint_id: yield* InProcess.fingerprint(runtime),
    session,
    properties: { api: "openai-responses", inputs: request, output: response }
  })
})
