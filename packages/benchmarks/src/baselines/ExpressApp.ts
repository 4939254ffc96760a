/** `ExpressApp.ts mounted|alone`: an Express application with its own route, with Tachograph mounted before it or without. */
import { MemoryStorage } from "@tachograph/core"
import { createTachograph } from "@tachograph/router"
import express from "express"
import type { AddressInfo } from "node:net"
import * as Recording from "../harness/Recording.ts"

const app = express()
if (process.argv[2] === "mounted") {
  const { node } = await createTachograph({ storage: MemoryStorage.layer, apiKeys: Recording.apiKeys })
  app.use(node)
}
app.get("/own", (_request, response) => void response.json({ hello: "world" }))

const server = app.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
process.once("disconnect", () => process.exit(0))
