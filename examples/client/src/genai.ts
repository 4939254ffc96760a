import { createInterface } from "node:readline/promises"
import { type Content, GoogleGenAI } from "@google/genai"
import { recorder } from "./recorder.ts"

// This SDK takes no `fetch`: the global one is recorded.
recorder.install()
const genai = new GoogleGenAI({})
const contents: Array<Content> = []
for await (const text of createInterface({ input: process.stdin })) {
  contents.push({ role: "user", parts: [{ text }] })
  const answer = { role: "model", parts: [{ text: "" }] }
  for await (const chunk of await genai.models.generateContentStream({ model: "gemini-2.5-flash", contents })) {
    process.stdout.write(chunk.text ?? "")
    answer.parts[0]!.text += chunk.text ?? ""
  }
  contents.push(answer)
  process.stdout.write("\n")
}
