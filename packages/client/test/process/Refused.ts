/** Spools events, and ends. It may wait for them for ten minutes. With WAIT, it does not end by itself. */
import { createRecorder } from "../../src/index.ts"

const { KEY = "", SPOOL = "", URL: url = "", WAIT } = process.env

const recorder = createRecorder({ url, apiKey: KEY, spool: SPOOL, exitMs: 600_000 })
for (let n = 0; n < 50; n++) recorder.record({ api: "aisdk", inputs: { n }, output: {}, session: "s" })
await recorder.spooled()
console.log("spooled")
if (WAIT !== undefined) setInterval(() => {}, 1000)
