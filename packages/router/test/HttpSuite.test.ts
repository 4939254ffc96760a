import { MemoryStorage } from "@tachograph/core"
import { sqlite } from "@tachograph/storage-sqlite"
import { HttpClient, HttpSuite } from "@tachograph/testkit"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createTachograph } from "../src/index.ts"

const overFetch: HttpSuite.HttpSuiteOptions["serve"] = (storage) => createTachograph({ storage })

const overNode: HttpSuite.HttpSuiteOptions["serve"] = async (storage) => {
  const tachograph = await createTachograph({ storage })
  const server = createServer(tachograph.node)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const { port } = server.address() as AddressInfo
  return {
    fetch: HttpClient.at(`http://127.0.0.1:${port}`),
    close: async () => {
      await new Promise((done) => server.close(done))
      await tachograph.close()
    }
  }
}

HttpSuite.run("fetch, memory", { storage: () => MemoryStorage.layer, serve: overFetch })
HttpSuite.run("fetch, SQLite", { storage: () => sqlite(":memory:"), serve: overFetch })
HttpSuite.run("node:http, memory", { storage: () => MemoryStorage.layer, serve: overNode })
