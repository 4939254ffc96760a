/**
 * Has a call under way whose answer does not end, and prints what it read of it. AISDK begins one of the AI SDK, SIGNAL_EXIT loads
 * that library, COPY the copy of the client at that path, EXIT_MS another option, HANDLE a handler that ends the process, ONCE
 * one that is called once, FIRST one that is called once and before all others, and EXIT ends it at once.
 */
import { createRecorder } from "../../src/index.ts"

const {
  AISDK,
  COPY,
  EXIT,
  EXIT_MS,
  FIRST,
  HANDLE,
  KEY = "",
  ONCE,
  PROVIDER_URL,
  SIGNAL_EXIT,
  URL: url = ""
} = process.env

const options = {
  url,
  apiKey: KEY,
  ...(EXIT_MS === undefined ? {} : { exitMs: Number(EXIT_MS) }),
  onDrop: ({ reason }: { readonly reason: string }) => console.log(`lost: ${reason}`)
}
const recorder = createRecorder(options)
if (COPY !== undefined) {
  const copy = (await import(COPY)) as { readonly createRecorder: typeof createRecorder }
  copy.createRecorder(options).record({ api: "aisdk", inputs: { copy: true }, output: {}, session: "s" })
}
if (AISDK !== undefined) {
  const providerOptions = AISDK === "odd" ? { seed: 1n } : {}
  recorder.aiSdk.onStepStart({ callId: "c", modelId: "m", messages: [], providerOptions })
}
if (SIGNAL_EXIT !== undefined) {
  const { onExit } = await import("signal-exit")
  onExit((_code, signal) => console.log(`signal-exit: ${signal}`))
}
if (HANDLE !== undefined) process.on("SIGTERM", () => void recorder.flush().then(() => process.exit(7)))
if (FIRST !== undefined) process.prependOnceListener("SIGTERM", () => setTimeout(() => process.exit(8), 300))
if (ONCE !== undefined) process.once("SIGTERM", () => setTimeout(() => process.exit(8), 300))

const request = { model: "m", messages: [{ role: "user", content: "Hi" }], stream: true }
const { body } = await recorder.fetch(`${PROVIDER_URL}/v1/messages`, { method: "POST", body: JSON.stringify(request) })
const reader = body!.getReader()
const { value } = await reader.read()
console.log(value!.byteLength)
if (EXIT !== undefined) process.exit(9)
// Holds the answer: one that was let go of would be recorded as soon as it is collected.
setInterval(() => void reader, 1000)
