import type { HttpSuite } from "@tachograph/testkit"
import express, { type Express } from "express"
import { createTachograph, type Tachograph } from "../src/index.ts"
import { hostNotFound, overServer } from "./OverServer.ts"

/** Serves Express, with the router where `mount` puts it. */
export const overExpress =
  (
    mount: (app: Express, tachograph: Tachograph) => void,
    options: { readonly basePath?: string } = {}
  ): HttpSuite.HttpSuiteOptions["serve"] =>
  async (storage, limits) => {
    const tachograph = await createTachograph({ storage, ...limits, ...options })
    const app = express()
    mount(app, tachograph)
    app.use((_request, response) => void response.status(404).send(hostNotFound))
    return overServer(tachograph, app)
  }
