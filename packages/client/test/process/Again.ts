/** Goes on twice when it could end, and then ends by itself. */
import { createRecorder } from "../../src/index.ts"

const recorder = createRecorder({ url: process.env["URL"]!, apiKey: process.env["KEY"]! })
let n = 0
const record = () => recorder.record({ api: "aisdk", inputs: { n: n++ }, output: {}, session: "s" })
record()
process.on("beforeExit", () => {
  if (recorder.counters().waiting === 0 && n < 3) record()
})
