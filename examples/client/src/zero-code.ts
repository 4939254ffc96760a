/** It knows nothing of Tachograph. */
import OpenAI from "openai"

const completion = await new OpenAI().chat.completions.create({
  model: "gpt-5-mini",
  messages: [{ role: "user", content: process.argv[2] ?? "Hello" }]
})
console.log(completion.choices[0]?.message.content)
