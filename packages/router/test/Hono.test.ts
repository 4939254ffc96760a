import { getRequestListener } from "@hono/node-server"
import { MemoryStorage, type Storage } from "@tachograph/core"
import { HttpSuite } from "@tachograph/testkit"
import type { Layer } from "effect"
import { Hono } from "hono"
import { createTachograph } from "../src/index.ts"
import { overServer } from "./OverServer.ts"

const serve = async (storage: Layer.Layer<Storage>) => {
  const tachograph = await createTachograph({ storage })
  const app = new Hono()
  app.all("*", (context) => tachograph.fetch(context.req.raw))
  return overServer(tachograph, getRequestListener(app.fetch))
}

HttpSuite.run("Hono", { storage: () => MemoryStorage.layer, serve })
