import Anthropic from "@anthropic-ai/sdk"
import { recorder } from "./recorder.ts"

const anthropic = new Anthropic({ fetch: recorder.fetch })
const message = await anthropic.messages.create({
  model: "claude-haiku-4-5",
  max_tokens: 1000,
  messages: [{ role: "user", content: process.argv[2] ?? "Hello" }]
})
for (const block of message.content) if (block.type === "text") console.log(block.text)
