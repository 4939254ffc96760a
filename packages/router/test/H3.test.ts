import { MemoryStorage, type Storage } from "@tachograph/core"
import { HttpSuite } from "@tachograph/testkit"
import type { Layer } from "effect"
import { H3 } from "h3"
import { toNodeHandler } from "h3/node"
import { createTachograph } from "../src/index.ts"
import { overServer } from "./OverServer.ts"

const serve = async (storage: Layer.Layer<Storage>) => {
  const tachograph = await createTachograph({ storage })
  const app = new H3().all("/**", (event) => tachograph.fetch(event.req))
  return overServer(tachograph, toNodeHandler(app))
}

HttpSuite.run("h3", { storage: () => MemoryStorage.layer, serve })
