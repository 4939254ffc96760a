import { createRecorder } from "@tachograph/client"

export const recorder = createRecorder({
  url: process.env.TACHOGRAPH_URL ?? "http://127.0.0.1:4400",
  apiKey: process.env.TACHOGRAPH_API_KEY,
  agent: "chat"
})
