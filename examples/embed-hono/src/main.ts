import { serve } from "@hono/node-server"
import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import { Hono } from "hono"

const tachograph = await createTachograph({
  storage: sqlite("tachograph.db"),
  basePath: "/tachograph",
  apiKeys: [process.env.TACHOGRAPH_API_KEY!]
})
const app = new Hono()
app.all("/tachograph/*", (context) => tachograph.fetch(context.req.raw))
app.get("/", (context) => context.text("Hello from Hono\n"))

const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3000) }, ({ port }) =>
  console.log(`Listening on http://127.0.0.1:${port}`)
)
process.once("SIGTERM", () => server.close(() => tachograph.close()))
