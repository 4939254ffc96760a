import { createInterface } from "node:readline/promises"
import { openai } from "@ai-sdk/openai"
import { type ModelMessage, registerTelemetry, streamText } from "ai"
import { recorder } from "./recorder.ts"

registerTelemetry(recorder.aiSdk)
const messages: Array<ModelMessage> = []
for await (const content of createInterface({ input: process.stdin })) {
  messages.push({ role: "user", content })
  const { text, textStream } = streamText({ model: openai.chat("gpt-5-mini"), messages })
  for await (const part of textStream) process.stdout.write(part)
  messages.push({ role: "assistant", content: await text })
  process.stdout.write("\n")
}
