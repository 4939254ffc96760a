import express from "express"
import OpenAI from "openai"
import { authenticate } from "./authenticate.ts"
import { close, recorder, tachograph } from "./tachograph.ts"

const openai = new OpenAI({ fetch: recorder.fetch })
const app = express()
app.use(authenticate)
app.use(tachograph.node)
app.use(express.json())
app.use(({ body, user }, _, next) => recorder.with({ session: body?.session, person: user!.name }, () => next()))

app.post("/chat", async (request, response) => {
  const { question, session } = request.body
  const answer = await openai.responses.create({ model: "gpt-5-mini", input: question, metadata: { session } })
  response.json({ answer: answer.output_text })
})

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1")
process.once("SIGTERM", () => server.close(close))
