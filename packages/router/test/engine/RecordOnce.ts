/** A program that records one event into each of the files that its arguments name, and closes nothing. */
import { sqlite } from "@tachograph/storage-sqlite"
import { createTachograph } from "../../src/index.ts"

for (const filename of process.argv.slice(2)) {
  const tachograph = await createTachograph({ storage: sqlite(filename) })
  const fingerprint_id = await tachograph.fingerprint({
    language: "typescript",
    language_version: "7",
    system: "linux"
  })
  const properties = { api: "openai-responses", inputs: {}, output: {} }
  const { event_id } = await tachograph.record({ event_name: "llm", properties, fingerprint_id, session: "once" })
  console.log(event_id)
}
