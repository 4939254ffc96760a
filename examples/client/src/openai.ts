import OpenAI from "openai"
import { recorder } from "./recorder.ts"

const openai = new OpenAI({ fetch: recorder.fetch })
const stream = await openai.chat.completions.create({
  model: "gpt-5-mini",
  messages: [{ role: "user", content: process.argv[2] ?? "Hello" }],
  stream: true
})
for await (const { choices } of stream) process.stdout.write(choices[0]?.delta.content ?? "")
process.stdout.write("\n")
