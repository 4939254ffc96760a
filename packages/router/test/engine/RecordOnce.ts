/** A program that records one event into the file that its argument names, and closes nothing. */
import { sqlite } from "@tachograph/storage-sqlite"
import { createTachograph } from "../../src/index.ts"

const tachograph = await createTachograph({ storage: sqlite(process.argv[2]!) })
const fingerprint_id = await tachograph.fingerprint({ language: "typescript", language_version: "7", system: "linux" })
const properties = { api: "openai-responses", inputs: {}, output: {} }
const { event_id } = await tachograph.record({ event_name: "llm", properties, fingerprint_id, session: "once" })
console.log(event_id)
