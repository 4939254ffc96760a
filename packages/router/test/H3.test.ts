import { MemoryStorage } from "@tachograph/core"
import { HttpSuite } from "@tachograph/testkit"
import { H3 } from "h3"
import { toNodeHandler } from "h3/node"
import { createTachograph } from "../src/index.ts"
import { overServer } from "./OverServer.ts"

const serve: HttpSuite.HttpSuiteOptions["serve"] = async (storage, limits) => {
  const tachograph = await createTachograph({ storage, ...limits })
  const app = new H3().all("/**", (event) => tachograph.fetch(event.req))
  return overServer(tachograph, toNodeHandler(app))
}

HttpSuite.run("h3", { storage: () => MemoryStorage.layer, serve, tag: "adapter" })
