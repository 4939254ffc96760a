import { getRequestListener } from "@hono/node-server"
import { MemoryStorage } from "@tachograph/core"
import { HttpSuite } from "@tachograph/testkit"
import { Hono } from "hono"
import { createTachograph } from "../src/index.ts"
import { overServer } from "./OverServer.ts"

const overHono =
  (basePath = ""): HttpSuite.HttpSuiteOptions["serve"] =>
  async (storage, limits) => {
    const tachograph = await createTachograph({ storage, basePath, ...limits })
    const app = new Hono()
    app.all(`${basePath}/*`, (context) => tachograph.fetch(context.req.raw))
    return overServer(tachograph, getRequestListener(app.fetch))
  }

const storage = () => MemoryStorage.layer
const basePath = "/tachograph"

HttpSuite.run("Hono", { storage, serve: overHono(), tag: "adapter" })

HttpSuite.run("Hono, with a base path", { storage, basePath, serve: overHono(basePath), tag: "path" })
