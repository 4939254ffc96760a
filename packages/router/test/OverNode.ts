import type { Storage } from "@tachograph/core"
import { HttpClient, type HttpSuite } from "@tachograph/testkit"
import type { Layer } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createTachograph } from "../src/index.ts"

/** Mounts the router in a plain Node server. */
export const overNode = async (
  storage: Layer.Layer<Storage>,
  apiKeys: ReadonlyArray<string> = []
): ReturnType<HttpSuite.HttpSuiteOptions["serve"]> => {
  const tachograph = await createTachograph({ storage, apiKeys })
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
