import type { Storage } from "@tachograph/core"
import type { Layer } from "effect"
import express, { type RequestHandler } from "express"
import { createTachograph } from "../src/index.ts"
import { hostsOwn, overServer } from "./OverServer.ts"

/** Mounts the router in Express, at `path`, behind what else there is. */
export const overExpress =
  (path = "/", ...before: ReadonlyArray<RequestHandler>) =>
  async (storage: Layer.Layer<Storage>) => {
    const tachograph = await createTachograph({ storage })
    const app = express()
    for (const handler of before) app.use(handler)
    app.use(path, tachograph.node)
    app.use((_request, response) => void response.status(404).send(hostsOwn))
    return overServer(tachograph, app)
  }
