import { openai } from "@ai-sdk/openai"
import { generateText, registerTelemetry } from "ai"
import { recorder } from "./recorder.ts"

registerTelemetry(recorder.aiSdk)
const { text } = await generateText({ model: openai.chat("gpt-5-mini"), prompt: process.argv[2] ?? "Hello" })
console.log(text)
