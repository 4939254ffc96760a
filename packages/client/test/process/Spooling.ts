/** Records numbers, with SIZE characters each, and prints each when it is on disk. */
import { createRecorder } from "../../src/index.ts"

const recorder = createRecorder({ url: process.env["URL"]!, apiKey: process.env["KEY"]!, spool: process.env["SPOOL"]! })
const text = "x".repeat(Number(process.env["SIZE"] ?? 0))
for (let n = 0; ; n++) {
  recorder.record({ api: "aisdk", inputs: { n, text }, output: {}, session: "s" })
  await recorder.spooled()
  console.log(n)
}
