/** A `node:http` server around a handler, for the length of a test. */
import { HttpClient } from "@tachograph/testkit"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"

export const served = async (listener: RequestListener): Promise<HttpClient.Fetch> => {
  const server = createServer(listener)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return HttpClient.at(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}
