/** Records calls of a model from inside the application: request and answer as the texts that went over the wire. */
import { InProcess } from "@tachograph/router"
import { Effect } from "effect"

interface Call {
  readonly session: string
  /** JSON objects, as the provider was sent and answered them. */
  readonly request: string
  readonly answer: string
}

const runtime = { language: "typescript", language_version: process.versions.node, system: process.platform }

/** Succeeds when the call is kept. */
export const record = Effect.fn("record")(function* ({ answer, request, session }: Call) {
  return yield* InProcess.record({
    event_name: "llm",
    fingerprint_id: yield* InProcess.fingerprint(runtime),
    session,
    properties: { api: "openai-responses", inputs: request, output: answer }
  })
})
