/** Sends through the proxy. */
import { request as httpRequest, type IncomingMessage } from "node:http"
import type { ProxyOptions } from "../../src/proxy/ProxyOptions.ts"
import { apiKey, opened } from "../Samples.ts"
import { served } from "../Served.ts"
import { bodyOf } from "./Upstream.ts"

/** A proxy with the upstream `local`, until the end of the test. */
export const proxyTo = async (url: string, options: ProxyOptions = {}) => {
  const tachograph = await opened({ proxy: { upstreams: { local: url }, ...options } })
  const { port } = await served(tachograph.node)
  return { tachograph, port }
}

export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly body?: Uint8Array | string
}

/** Sends over `node:http`, which neither adds nor decodes anything. */
export const send = (port: number, path: string, { body, headers = {}, method = "POST" }: Sent = {}) =>
  new Promise<{ answer: IncomingMessage; body: Buffer }>((resolve, reject) => {
    const sent = httpRequest({
      maxHeaderSize: 256 * 1024,
      port,
      host: "127.0.0.1",
      path,
      method,
      headers: headers as Record<string, string>
    })
    sent.maxHeadersCount = 0
    sent.on("error", reject).on("response", (answer) => {
      bodyOf(answer).then((bytes) => resolve({ answer, body: bytes }), reject)
    })
    sent.end(body)
  })

export const withKey = { "x-tachograph-key": apiKey }
