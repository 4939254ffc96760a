/** Records events on a disk that takes its time, and ends as ENDING says: by an uncaught error, or by itself. */
import { promises } from "node:fs"
import { createRecorder } from "../../src/index.ts"

const { ENDING, KEY = "", SPOOL = "", URL: url = "" } = process.env

const { open } = promises
// Others are read for the fingerprint.
promises.open = (path, ...rest) => (String(path).startsWith(SPOOL) ? new Promise(() => {}) : open(path, ...rest))
const onDrop = ({ reason }: { readonly reason: string }) => console.log(`lost: ${reason}`)
const recorder = createRecorder({ url, apiKey: KEY, spool: SPOOL, onDrop })
for (let n = 0; n < 5; n++) recorder.record({ api: "aisdk", inputs: { n }, output: {}, session: "s" })
const before = recorder.counters().heldBytes
// An event is longer than the texts that it is made of.
while (recorder.counters().heldBytes < before + 5 * 50) await new Promise((resolve) => setImmediate(resolve))
// There is no event of this one yet.
recorder.record({ api: "aisdk", inputs: { n: 5 }, output: {}, session: "s" })
if (ENDING === "error") throw new Error("nobody catches it")
process.exit(3)
