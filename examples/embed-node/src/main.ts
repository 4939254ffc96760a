import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import { createServer } from "node:http"

const tachograph = await createTachograph({
  storage: sqlite("tachograph.db"),
  apiKeys: [process.env.TACHOGRAPH_API_KEY!]
})
const server = createServer((request, response) =>
  // Tachograph answers requests to its own paths and calls the callback for all others.
  tachograph.node(request, response, () => response.end("Hello from my own server\n"))
)
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1")
process.once("SIGTERM", () => server.close(() => tachograph.close()))
