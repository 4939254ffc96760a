import { createTachograph, type InProcess, TachographError } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"

const tachograph = await createTachograph({ storage: sqlite("tachograph.db") })

// Once per application start: register the runtime (language and system).
const fingerprint_id = await tachograph.fingerprint({
  language: "typescript",
  language_version: process.versions.node,
  system: process.platform
})

// After every model call: the request and the response, in the provider's own format.
const { event_id } = await tachograph.record({
  event_name: "llm",
  fingerprint_id,
  session: "session-1",
  properties: {
    api: "anthropic-messages",
    inputs: { model: "m", messages: [{ role: "user", content: "Hello" }] },
    output: { role: "assistant", content: [{ type: "text", text: "Hi!" }] }
  }
})
console.log(await tachograph.api.getEvent.text({ event_id }))

// Types say what an event has. What is put together elsewhere is of the type `InProcess.NewEvent`.
const failed: InProcess.NewEvent = {
  event_name: "llm",
  fingerprint_id,
  session: "session-1",
  person: "person-1",
  occurred_at: new Date(),
  http_status: 429,
  metadata: { ticket: 17 },
  properties: {
    api: "anthropic-messages",
    // JSON texts are kept byte for byte.
    inputs: '{"model": "m", "messages": [{"role": "user", "content": "And now?"}]}',
    output: '{"type": "error", "error": {"type": "rate_limit_error"}}'
  }
}
await tachograph.record(failed, { idempotencyKey: "call-2" })

const { api } = tachograph
// A person has properties of your own. An event that names a new one creates it.
await api.updatePerson({ person_id: "person-1", body: { properties: { plan: "pro" } } })

const { usage } = await api.readUsage({ group_by: "model" })
for (const { errors, events, model } of usage) console.log(`${model}: ${events} calls, ${errors} failed`)

// Erases every call of a person, or of a session: no copy of them stays.
const erased = await api.erasePerson({ person_id: "person-1" })
console.log(`erased: ${erased.events} calls`)

// An invalid event is rejected with one detail per error.
await tachograph.record('{"event_name":"llm"}').catch((error) => {
  if (!(error instanceof TachographError) || error.type !== "validation-error") throw error
  for (const { loc, msg } of error.detail) console.log(`${loc.join(".")}: ${msg}`)
})
await tachograph.close()
