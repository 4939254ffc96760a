import { GoogleGenAI } from "@google/genai"
import { recorder } from "./recorder.ts"

// This SDK takes no `fetch`: the global one is recorded.
recorder.install()
const genai = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY! })
const { text } = await genai.models.generateContent({
  model: "gemini-2.5-flash",
  contents: process.argv[2] ?? "Hello"
})
console.log(text)
