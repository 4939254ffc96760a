import { MemoryStorage } from "@tachograph/core"
import { HttpSuite } from "@tachograph/testkit"
import { createTachograph } from "../src/index.ts"
import { overNode } from "./OverNode.ts"
import { overServer } from "./OverServer.ts"

const storage = () => MemoryStorage.layer
const basePath = "/tachograph"

HttpSuite.run("node:http, memory", { storage, serve: overNode })

HttpSuite.run("node:http, memory, below a base path", {
  storage,
  basePath,
  serve: async (storage) => {
    const tachograph = await createTachograph({ storage, basePath })
    return overServer(tachograph, tachograph.node)
  }
})
