/** Records numbers, and prints each when it is on disk. */
import { createRecorder } from "../../src/index.ts"

const recorder = createRecorder({ url: process.env["URL"]!, apiKey: process.env["KEY"]!, spool: process.env["SPOOL"]! })
for (let n = 0; ; n++) {
  recorder.record({ api: "aisdk", inputs: { n }, output: {}, session: "s" })
  await recorder.spooled()
  console.log(n)
}
