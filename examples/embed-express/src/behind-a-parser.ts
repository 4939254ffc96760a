import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import express from "express"

const tachograph = await createTachograph({
  storage: sqlite("tachograph.db"),
  basePath: "/tachograph",
  apiKeys: [process.env.TACHOGRAPH_API_KEY!]
})
const app = express()
app.use(
  express.json({
    // Express rejects larger bodies before Tachograph sees them. Its default is 100 kB.
    limit: "32mb",
    // Keeps the bytes: without them Tachograph records the parsed value, not what was sent.
    verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes })
  })
)
app.use(tachograph.node)

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1")
process.once("SIGTERM", () => server.close(() => tachograph.close()))
