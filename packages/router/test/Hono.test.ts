import { getRequestListener } from "@hono/node-server"
import { MemoryStorage, type Storage } from "@tachograph/core"
import { HttpSuite } from "@tachograph/testkit"
import type { Layer } from "effect"
import { Hono } from "hono"
import { createTachograph } from "../src/index.ts"
import { overServer } from "./OverServer.ts"

const overHono =
  (basePath = "") =>
  async (storage: Layer.Layer<Storage>) => {
    const tachograph = await createTachograph({ storage, basePath })
    const app = new Hono()
    app.all(`${basePath}/*`, (context) => tachograph.fetch(context.req.raw))
    return overServer(tachograph, getRequestListener(app.fetch))
  }

const storage = () => MemoryStorage.layer
const basePath = "/tachograph"

HttpSuite.run("Hono", { storage, serve: overHono() })

HttpSuite.run("Hono, below a base path", { storage, basePath, serve: overHono(basePath) })
