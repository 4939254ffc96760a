/** A chat. It takes its key and the provider's address from the environment, as every program with this SDK does. */
import OpenAI from "openai"

const openai = new OpenAI()
const stream = await openai.chat.completions.create({
  model: "gpt-5-mini",
  messages: [{ role: "user", content: process.argv[2] ?? "Hello" }],
  stream: true,
  // Without it, OpenAI does not say how many tokens a stream took.
  stream_options: { include_usage: true }
})
for await (const { choices } of stream) process.stdout.write(choices[0]?.delta.content ?? "")
process.stdout.write("\n")
