/** The ways into the router: each sends the same request through another mount, and returns the answer in the same form. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ApiKeys, Recorder, type Storage } from "@tachograph/core"
import { createHandler } from "@tachograph/lambda"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { HttpRouter } from "effect/http"
import express from "express"
import { createServer, type OutgoingHttpHeaders, request } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import {
  createTachograph,
  defaultMaxBody,
  defaultMaxOtherBody,
  Front,
  MaxBodyBytes,
  IsStrict,
  MaxOtherBodyBytes,
  Routes,
  TachographError
} from "../src/index.ts"
import { apiKey } from "./Samples.ts"
import { served } from "./Served.ts"

export interface Outgoing {
  readonly method: string
  /** The path with its query. */
  readonly target: string
  /** An array is a header that is sent several times. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly body: string | Uint8Array
  /**
   * `whole` sends the body with its length, `chunked` without it, and `withheld` only its length. Ways that hand over whole
   * requests always send the body.
   */
  readonly framing: "whole" | "chunked" | "withheld"
}

export interface Answer {
  /** Undefined in process. The headers of the connection itself are left out. */
  readonly http: { readonly status: number; readonly headers: Readonly<Record<string, string>> } | undefined
  readonly text: string
}

interface Opened {
  readonly send: (outgoing: Outgoing) => Promise<Answer>
  /** Closes Tachograph. Servers stay open until the end of the test. */
  readonly close: () => Promise<void>
}

interface Options {
  readonly storage: Layer.Layer<Storage>
  readonly maxBody?: number | undefined
  readonly maxOtherBody?: number | undefined
  readonly strict?: boolean | undefined
}

type Open = (options: Options) => Promise<Opened>

/** Headers about the connection, and not about the answer. */
const connectionHeaders: Readonly<Record<string, RegExp>> = { connection: /^keep-alive$/, "keep-alive": /./, date: /./ }

const httpAnswer = (status: number, headers: Iterable<readonly [string, string]>, text: string): Answer => ({
  http: {
    status,
    headers: Object.fromEntries(Array.from(headers).filter(([name, value]) => !connectionHeaders[name]?.test(value)))
  },
  text
})

const pairsOf = (raw: ReadonlyArray<string>): Array<readonly [string, string]> =>
  raw.flatMap((name, index) => (index % 2 === 0 ? [[name.toLowerCase(), raw[index + 1]!] as const] : []))

const lengthOf = ({ body, framing }: Outgoing): Readonly<Record<string, string>> =>
  framing === "chunked" || body.length === 0 ? {} : { "content-length": String(Buffer.byteLength(body)) }

/** Sends a request over a socket. Not with `fetch`, which neither repeats a header nor withholds a body. */
const overSocket =
  (port: number): Opened["send"] =>
  (outgoing) =>
    new Promise((resolve, reject) => {
      const { body, framing, method, target } = outgoing
      const headers = { ...lengthOf(outgoing), ...outgoing.headers } as OutgoingHttpHeaders
      const sent = request({ host: "127.0.0.1", port, method, path: target, headers }, (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("end", () => {
          if (framing === "withheld") sent.destroy()
          resolve(httpAnswer(response.statusCode!, pairsOf(response.rawHeaders), String(Buffer.concat(chunks))))
        })
      })
      sent.on("error", reject)
      sent.flushHeaders()
      if (framing !== "withheld") sent.end(body)
    })

const overNode: Open = async (options) => {
  const tachograph = await createTachograph({ ...options, apiKeys: [apiKey] })
  const { port } = await served(tachograph.node)
  return { send: overSocket(port), close: tachograph.close }
}

const overExpress: Open = async (options) => {
  const tachograph = await createTachograph({ ...options, apiKeys: [apiKey] })
  const { port } = await served(express().disable("x-powered-by").use(tachograph.node))
  return { send: overSocket(port), close: tachograph.close }
}

const overEffect: Open = async ({
  maxBody = defaultMaxBody,
  maxOtherBody = defaultMaxOtherBody,
  storage,
  strict = false
}) => {
  const server = createServer()
  const runtime = ManagedRuntime.make(
    HttpRouter.serve(Routes.layer, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provide(Front.layer),
      Layer.provide([
        Layer.succeed(MaxBodyBytes, maxBody),
        Layer.succeed(MaxOtherBodyBytes, maxOtherBody),
        Layer.succeed(IsStrict, strict)
      ]),
      Layer.provide([Recorder.layer, ApiKeys.layer({ staticKeys: [Redacted.make(apiKey)] })]),
      Layer.provide(NodeHttpServer.layer(() => server, { host: "127.0.0.1", port: 0 })),
      Layer.provide(storage)
    )
  )
  await runtime.runPromise(Effect.void)
  return { send: overSocket((server.address() as AddressInfo).port), close: () => runtime.dispose() }
}

const pieces = (body: string | Uint8Array): ReadonlyArray<Uint8Array> => {
  const bytes = Buffer.from(body)
  const middle = bytes.length >>> 1
  return [bytes.subarray(0, middle), bytes.subarray(middle)]
}

const webBody = ({ body, framing }: Outgoing): RequestInit => {
  if (body.length === 0) return {}
  if (framing === "whole") return { body: Buffer.from(body) }
  const stream = framing === "withheld" ? new ReadableStream() : ReadableStream.from(pieces(body))
  return { body: stream, duplex: "half" } as RequestInit
}

const webAnswer = async (response: Response): Promise<Answer> =>
  httpAnswer(response.status, response.headers, await response.text())

const overFetch: Open = async (options) => {
  const tachograph = await createTachograph({ ...options, apiKeys: [apiKey] })
  const send: Opened["send"] = async (outgoing) => {
    const headers = { ...lengthOf(outgoing), ...outgoing.headers } as Record<string, string>
    const init = { method: outgoing.method, headers, ...webBody(outgoing) }
    return webAnswer(await tachograph.fetch(new Request(`http://localhost${outgoing.target}`, init)))
  }
  return { send, close: tachograph.close }
}

/** As a function URL passes it on. */
const lambdaEvent = ({ body, headers, method, target }: Outgoing) => {
  const { pathname, search } = new URL(target, "http://localhost")
  const isBase64Encoded = typeof body !== "string"
  return {
    version: "2.0",
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers,
    requestContext: { domainName: "a.lambda-url.eu-west-1.on.aws", http: { method, path: pathname } },
    body: isBase64Encoded ? Buffer.from(body).toString("base64") : body,
    isBase64Encoded
  }
}

const overLambda: Open = async (options) => {
  const handler = createHandler({ ...options, apiKeys: [apiKey] })
  const send: Opened["send"] = async (outgoing) => {
    const { body, headers = {}, isBase64Encoded, statusCode } = await handler(lambdaEvent(outgoing))
    return httpAnswer(statusCode, Object.entries(headers), isBase64Encoded ? atob(body) : body)
  }
  return { send, close: handler.close }
}

/** The error as HTTP would answer it. */
const errorText = ({ detail, requestId, type }: TachographError): string => {
  if (type === "validation-error") return JSON.stringify({ detail })
  return JSON.stringify(type === "internal" ? { type, id: requestId } : { type })
}

const inProcess: Open = async (options) => {
  const tachograph = await createTachograph(options)
  const send: Opened["send"] = async ({ body, headers }) => {
    const idempotencyKey = headers["idempotency-key"] as string | undefined
    try {
      return { http: undefined, text: JSON.stringify(await tachograph.record(String(body), { idempotencyKey })) }
    } catch (error) {
      if (error instanceof TachographError) return { http: undefined, text: errorText(error) }
      throw error
    }
  }
  return { send, close: tachograph.close }
}

/** Compresses the body, on top of the encoding that it is sent with. */
const gzipped =
  (open: Open): Open =>
  async (options) => {
    const { close, send } = await open(options)
    return {
      close,
      send: (outgoing) => {
        const encodings = [outgoing.headers["content-encoding"] ?? [], "gzip"].flat()
        const headers = { ...outgoing.headers, "content-encoding": encodings.join(", ") }
        return send({ ...outgoing, headers, body: gzipSync(outgoing.body) })
      }
    }
  }

export const ways = {
  "node:http": overNode,
  "node:http, gzip": gzipped(overNode),
  Express: overExpress,
  fetch: overFetch,
  "fetch, gzip": gzipped(overFetch),
  "AWS Lambda": overLambda,
  "AWS Lambda, gzip": gzipped(overLambda),
  "Effect's HttpRouter": overEffect,
  "Effect's HttpRouter, gzip": gzipped(overEffect),
  "in process": inProcess
} satisfies Record<string, Open>

export type Way = keyof typeof ways
