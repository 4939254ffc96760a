import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import fastify from "fastify"

const tachograph = await createTachograph({
  storage: sqlite("tachograph.db"),
  basePath: "/tachograph",
  apiKeys: [process.env.TACHOGRAPH_API_KEY!]
})
const app = fastify({ logger: true })

// Runs before Fastify parses a body: Tachograph answers its own paths, Fastify handles all others.
app.addHook("onRequest", (request, reply, next) => {
  let isOurs = true
  tachograph.node(request.raw, reply.raw, () => {
    isOurs = false
    next()
  })
  if (isOurs) reply.hijack()
})
app.addHook("onClose", () => tachograph.close())

app.get("/", () => "Hello from Fastify\n")

await app.listen({ host: "127.0.0.1", port: Number(process.env.PORT ?? 3000) })
process.once("SIGTERM", () => app.close())
