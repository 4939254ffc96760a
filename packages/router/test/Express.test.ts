import { sqlite } from "@tachograph/storage-sqlite"
import { HttpSuite } from "@tachograph/testkit"
import { overExpress } from "./OverExpress.ts"
import { expectHostsOwn } from "./OverServer.ts"

const options = { storage: () => sqlite(":memory:"), expectNotOurs: expectHostsOwn }
const basePath = "/tachograph"

HttpSuite.run("Express", {
  ...options,
  serve: overExpress((app, tachograph) => app.use(tachograph.node))
})

HttpSuite.run("Express, with a path of its own", {
  ...options,
  basePath,
  serve: overExpress((app, tachograph) => app.use(basePath, tachograph.node))
})

HttpSuite.run("Express, below a base path", {
  ...options,
  basePath,
  serve: overExpress((app, tachograph) => app.use(tachograph.node), { basePath })
})
