import { MemoryStorage } from "@tachograph/core"
import { HttpSuite } from "@tachograph/testkit"
import { createTachograph } from "../src/index.ts"
import { overServer } from "./OverServer.ts"

const storage = () => MemoryStorage.layer

const overNode =
  (basePath = ""): HttpSuite.HttpSuiteOptions["serve"] =>
  async (storage, limits) => {
    const tachograph = await createTachograph({ storage, basePath, ...limits })
    return overServer(tachograph, tachograph.node)
  }

HttpSuite.run("node:http, memory", { storage, serve: overNode() })

const basePath = "/tachograph"

HttpSuite.run("node:http, memory, with a base path", { storage, basePath, serve: overNode(basePath), tag: "path" })
