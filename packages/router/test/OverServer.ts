import { HttpClient, type HttpSuite } from "@tachograph/testkit"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { expect } from "vitest"
import type { Tachograph } from "../src/index.ts"

/** Serves requests on a free port of 127.0.0.1. `close` also closes Tachograph. */
export const overServer = async (
  tachograph: Tachograph,
  listener: RequestListener
): ReturnType<HttpSuite.HttpSuiteOptions["serve"]> => {
  const server = createServer(listener)
  // A busy suite may not notice in time that an idle connection was closed, and would send a request on it.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    fetch: HttpClient.at(url),
    url,
    close: async () => {
      await new Promise((done) => server.close(done))
      await tachograph.close()
    }
  }
}

/** The body of the host's 404 to a path that Tachograph does not handle. */
export const hostNotFound = "not found by the host"

export const expectHostResponse = ({ headers, status, text }: HttpClient.Answer) => {
  expect([status, text, headers.get("x-request-id")]).toEqual([404, hostNotFound, null])
}
