import { sqlite } from "@tachograph/storage-sqlite"
import { HttpSuite } from "@tachograph/testkit"
import { overExpress } from "./OverExpress.ts"
import { expectHostsOwn } from "./OverServer.ts"

const storage = () => sqlite(":memory:")

HttpSuite.run("Express", { storage, serve: overExpress(), expectNotOurs: expectHostsOwn })

HttpSuite.run("Express, app.use with a path", {
  storage,
  serve: overExpress("/tachograph"),
  basePath: "/tachograph",
  expectNotOurs: expectHostsOwn
})
