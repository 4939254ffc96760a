import express from "express"
import OpenAI from "openai"
import { authenticate } from "./authenticate.ts"
import { recording, tachograph } from "./tachograph.ts"

const openai = new OpenAI()
const app = express()
app.use(authenticate)
app.use(tachograph.node)
app.use(express.json())

app.post("/chat", async (request, response) => {
  const { question, session } = request.body
  const recorded = openai.withOptions({ fetch: recording({ session, person: request.user!.name }) })
  const answer = await recorded.responses.create({ model: "gpt-5-mini", input: question, metadata: { session } })
  response.json({ answer: answer.output_text })
})

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1")
process.once("SIGTERM", () => server.close(() => tachograph.close()))
