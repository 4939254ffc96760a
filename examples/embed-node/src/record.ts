import { createTachograph, TachographError } from "@tachograph/router"
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
console.log(await tachograph.recorder.getEventText(event_id))

// An invalid event is rejected with one detail per error.
await tachograph.record({ event_name: "llm" }).catch((error) => {
  if (!(error instanceof TachographError) || error.type !== "validation-error") throw error
  for (const { loc, msg } of error.detail) console.log(`${loc.join(".")}: ${msg}`)
})
await tachograph.close()
