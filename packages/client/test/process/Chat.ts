/** An application that knows nothing of the recorder. With WAIT, it does not end by itself. */
import OpenAI from "openai"

const openai = new OpenAI({ apiKey: "sk-planted-key", baseURL: `${process.env["PROVIDER_URL"]}/v1` })
const completion = await openai.chat.completions.create({
  model: "gpt-x",
  messages: [{ role: "user", content: "Weather in Köln?" }]
})
if (process.env["HANDLE"] !== undefined) process.on("SIGTERM", () => process.exit(7))
console.log(completion.id)
if (process.env["WAIT"] !== undefined) setInterval(() => {}, 1000)
