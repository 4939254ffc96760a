/** An application that knows nothing of the recorder. With WAIT, it does not end by itself; CALLS is how many it makes. */
import OpenAI from "openai"

const openai = new OpenAI({ apiKey: "sk-planted-key", baseURL: `${process.env["PROVIDER_URL"]}/v1` })
const ask = () =>
  openai.chat.completions.create({ model: "gpt-x", messages: [{ role: "user", content: "Weather in Köln?" }] })
for (let left = Number(process.env["CALLS"] ?? 1); left > 1; left--) await ask()
const completion = await ask()
if (process.env["HANDLE"] !== undefined) process.on("SIGTERM", () => process.exit(7))
console.log(completion.id)
if (process.env["WAIT"] !== undefined) setInterval(() => {}, 1000)
