import { sqlite } from "@tachograph/storage-sqlite"
import { HttpSuite } from "@tachograph/testkit"
import { overExpress } from "./OverExpress.ts"
import { expectHostResponse } from "./OverServer.ts"

const options = { storage: () => sqlite(":memory:"), expectUnhandled: expectHostResponse, tag: "adapter" } as const
const basePath = "/tachograph"

HttpSuite.run("Express", {
  ...options,
  serve: overExpress((app, tachograph) => app.use(tachograph.node))
})

HttpSuite.run("Express, mounted at a path", {
  ...options,
  basePath,
  tag: "path",
  serve: overExpress((app, tachograph) => app.use(basePath, tachograph.node))
})

HttpSuite.run("Express, with a base path", {
  ...options,
  basePath,
  tag: "path",
  serve: overExpress((app, tachograph) => app.use(tachograph.node), { basePath })
})
