import { HttpClient, type HttpSuite } from "@tachograph/testkit"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { expect } from "vitest"
import type { Tachograph } from "../src/index.ts"

/** Answers requests at a port of 127.0.0.1, until it is closed, and Tachograph with it. */
export const overServer = async (
  tachograph: Tachograph,
  listener: RequestListener
): ReturnType<HttpSuite.HttpSuiteOptions["serve"]> => {
  const server = createServer(listener)
  // The suite's own work can keep both ends from seeing in time that the other has closed a connection.
  server.keepAliveTimeout = 60_000
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

/** What hosts answer, with 404, to what Tachograph leaves to them. */
export const hostsOwn = "the host's own answer"

export const expectHostsOwn = ({ headers, status, text }: HttpClient.Answer) => {
  // Of an answer to HEAD and OPTIONS there may be no text.
  expect([status, text, headers.get("x-request-id")]).toEqual([404, hostsOwn, null])
}
