/**
 * `ExpressApp.ts mounted|alone [FILE]`: an Express application with its own route, with Tachograph mounted before it or without. It
 * records into the file of SQLite, or in memory.
 */
import { MemoryStorage } from "@tachograph/core"
import { createTachograph } from "@tachograph/router"
import { sqlite } from "@tachograph/storage-sqlite"
import express from "express"
import type { AddressInfo } from "node:net"
import * as Recording from "../harness/Recording.ts"

const app = express()
const [how, file] = process.argv.slice(2)
if (how === "mounted") {
  const storage = file === undefined ? MemoryStorage.layer : sqlite(file)
  const { node } = await createTachograph({ storage, apiKeys: Recording.apiKeys })
  app.use(node)
}
app.get("/own", (_request, response) => void response.json({ hello: "world" }))

const server = app.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
process.once("disconnect", () => process.exit(0))
