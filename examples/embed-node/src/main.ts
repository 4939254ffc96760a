import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import { createServer } from "node:http"

const tachograph = await createTachograph({
  storage: sqlite("tachograph.db"),
  apiKeys: [process.env.TACHOGRAPH_API_KEY!]
})
const server = createServer((request, response) =>
  // Its own paths are answered by Tachograph, and everything else by you.
  tachograph.node(request, response, () => response.end("Hello from my own server\n"))
)
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1")
process.once("SIGTERM", () => server.close(() => tachograph.close()))
