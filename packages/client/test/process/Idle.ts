/** Records an event, says when it could end, and ends by itself; with WAIT, when SIGTERM says so. */
import { createRecorder } from "../../src/index.ts"

const { EXIT_MS, KEY = "", URL: url = "", WAIT } = process.env

process.on("beforeExit", () => console.log("could end"))
const recorder = createRecorder({ url, apiKey: KEY, exitMs: Number(EXIT_MS), timeoutMs: 600_000, onDrop: () => {} })
recorder.record({ api: "aisdk", inputs: {}, output: {}, session: "s" })
process.exitCode = 6
if (WAIT !== undefined) {
  const timer = setInterval(() => {}, 1000)
  process.once("SIGTERM", () => clearInterval(timer))
  console.log("waits")
}
