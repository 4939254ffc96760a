/** It knows nothing of Tachograph. */
import { createInterface } from "node:readline/promises"
import OpenAI from "openai"

const openai = new OpenAI()
const messages: Array<OpenAI.ChatCompletionMessageParam> = []
for await (const content of createInterface({ input: process.stdin })) {
  messages.push({ role: "user", content })
  const stream = openai.chat.completions.stream({ model: "gpt-5-mini", messages })
  stream.on("content", (text) => process.stdout.write(text))
  messages.push({ role: "assistant", content: await stream.finalContent() })
  process.stdout.write("\n")
}
