import { createInterface } from "node:readline/promises"
import OpenAI from "openai"
import { recorder } from "./recorder.ts"

const openai = new OpenAI({
  fetch: recorder.fetch
})
// Without it, OpenAI does not say how many tokens a stream took.
const stream_options = { include_usage: true }
const messages: Array<OpenAI.ChatCompletionMessageParam> = []
for await (const content of createInterface({ input: process.stdin })) {
  messages.push({ role: "user", content })
  const stream = openai.chat.completions.stream({ model: "gpt-5-mini", messages, stream_options })
  stream.on("content", (text) => process.stdout.write(text))
  messages.push({ role: "assistant", content: await stream.finalContent() })
  process.stdout.write("\n")
}
