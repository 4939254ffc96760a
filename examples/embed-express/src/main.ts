import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import express, { type Request } from "express"
import OpenAI from "openai"
import { authenticate } from "./authenticate.ts"
import { recording } from "./recording.ts"

const tachograph = await createTachograph({
  storage: sqlite("tachograph.db"),
  basePath: "/tachograph",
  authorize: ({ source }) => ((source as Request).user?.isAdmin ? { project: "default", scopes: ["admin"] } : null)
})
const fingerprint_id = await tachograph.fingerprint({
  language: "typescript",
  language_version: process.versions.node,
  system: process.platform
})
const openai = new OpenAI()
const app = express()
app.use(authenticate)
app.use(tachograph.node)
app.use(express.json())

app.post("/chat", async (request, response) => {
  const { question, session } = request.body
  const about = { fingerprint_id, session, person: request.user!.name }
  const recorded = openai.withOptions({ fetch: recording(tachograph, about) })
  const answer = await recorded.responses.create({ model: "gpt-5-mini", input: question })
  response.json({ answer: answer.output_text })
})

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1")
process.once("SIGTERM", () => server.close(() => tachograph.close()))
