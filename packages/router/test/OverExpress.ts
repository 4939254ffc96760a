import type { Storage } from "@tachograph/core"
import type { Layer } from "effect"
import express, { type Express } from "express"
import { createTachograph, type Tachograph } from "../src/index.ts"
import { hostsOwn, overServer } from "./OverServer.ts"

/** Puts Express in front of the router, which `mount` puts into it. */
export const overExpress =
  (mount: (app: Express, tachograph: Tachograph) => void, options: { readonly basePath?: string } = {}) =>
  async (storage: Layer.Layer<Storage>) => {
    const tachograph = await createTachograph({ storage, ...options })
    const app = express()
    mount(app, tachograph)
    app.use((_request, response) => void response.status(404).send(hostsOwn))
    return overServer(tachograph, app)
  }
