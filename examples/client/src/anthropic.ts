import { createInterface } from "node:readline/promises"
import Anthropic from "@anthropic-ai/sdk"
import { recorder } from "./recorder.ts"

const anthropic = new Anthropic({
  fetch: recorder.fetch
})
const messages: Array<Anthropic.MessageParam> = []
for await (const content of createInterface({ input: process.stdin })) {
  messages.push({ role: "user", content })
  const stream = anthropic.messages.stream({ model: "claude-haiku-4-5", max_tokens: 1000, messages })
  stream.on("text", (text) => process.stdout.write(text))
  messages.push({ role: "assistant", content: await stream.finalText() })
  process.stdout.write("\n")
}
