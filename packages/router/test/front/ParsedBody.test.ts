import { HttpClient } from "@tachograph/testkit"
import express, { type RequestHandler } from "express"
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { gzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import * as ParsedBody from "../../src/front/ParsedBody.ts"
import { apiKey, event, fingerprint, opened } from "../Samples.ts"
import { served } from "../Served.ts"

/** An Express server that parses the body before the router sees it. */
const behind = async (parser: RequestHandler, options: { readonly maxBody?: number } = {}) => {
  const tachograph = await opened(options)
  const id = await tachograph.fingerprint(fingerprint)
  const fetch = await served(express().use(parser).use(tachograph.node))
  const client = HttpClient.make(fetch, apiKey)
  return { tachograph, client, text: JSON.stringify(event(id)).replace('{"n":1}', '{ "n": 1.0 }') }
}

const inputsOf = async ({ tachograph, client, text }: Awaited<ReturnType<typeof behind>>, headers = {}) => {
  const body = "content-encoding" in headers ? gzipSync(text) : text
  const answer = await client.call("POST", "/api/v1/events", body, headers)
  expect(answer.status).toBe(200)
  const read = await tachograph.api.getEvent.text({ event_id: answer.body.event_id })
  return /"inputs":(\{[^}]*\})/.exec(read)?.[1]
}

const verify = (request: object, _response: unknown, rawBody: Buffer) => void Object.assign(request, { rawBody })

const texts = (bytes: string) => ({ rawBody: bytes, body: { n: 1 } })

describe("what is kept of a body", () => {
  const message = (fields: object) => Object.assign(new IncomingMessage(new Socket()), fields)
  const read = (fields: object) => {
    const found = message(fields)
    Object.defineProperty(found, "readableDidRead", { value: true })
    return ParsedBody.find(found)
  }

  it("is as sent, unless its text stands for bytes that are not UTF-8", () => {
    expect(read(texts('{"n":1}'))).toEqual({ bytes: Buffer.from('{"n":1}'), exact: true })
    expect(read(texts('{"n":"\ufffd"}'))).toMatchObject({ exact: false })
    expect(read({ rawBody: Buffer.from('{"n":"\ufffd"}'), body: "\ufffd" })).toMatchObject({ exact: true })
  })
})

describe("A body that the host has read", () => {
  it.each([
    ["kept in rawBody", express.json({ verify })],
    ["kept whole", express.raw({ type: "*/*" })],
    ["kept as text", express.text({ type: "*/*" })],
    ["not of the parser's content type", express.urlencoded()]
  ])("is recorded byte for byte if it was %s", async (_, parser) => {
    const host = await behind(parser)
    expect(await inputsOf(host)).toBe('{ "n": 1.0 }')
    expect(await inputsOf(host, { "content-encoding": "gzip" })).toBe('{ "n": 1.0 }')
  })

  it("is serialised again if only the parsed value is left", async () => {
    const host = await behind(express.json())
    expect(await inputsOf(host)).toBe('{"n":1}')
    expect(await inputsOf(host, { "content-encoding": "gzip" })).toBe('{"n":1}')
  })

  it("gets the usual validation errors", async () => {
    const { client } = await behind(express.json())
    const answer = await client.post("/api/v1/events", { event_name: "llm" })
    expect(answer.status).toBe(422)
    expect(answer.body.detail.map(({ loc }: { loc: Array<string> }) => loc.join("."))).toEqual([
      "body.properties",
      "body.fingerprint_id",
      "body.session"
    ])
  })

  const leaves =
    (body: unknown): RequestHandler =>
    (request, _response, next) => {
      request.resume().on("end", () => next())
      Object.assign(request, { body })
    }
  const cycle: { self?: unknown } = {}
  cycle.self = cycle

  it.each([
    ["nothing", undefined],
    ["a cycle", cycle],
    ["a BigInt", { n: 1n }],
    ["a function", () => {}]
  ])("is a missing body if the host left %s", async (_, left) => {
    const { client, text } = await behind(leaves(left))
    const answer = await client.post("/api/v1/events", text)
    expect([answer.status, answer.body.detail]).toMatchObject([422, [{ type: "missing", loc: ["body"] }]])
  })

  it("is a missing body if the parser made a value of an empty body", async () => {
    const { client } = await behind(express.json())
    const answer = await client.post("/api/v1/events", "")
    expect([answer.status, answer.body.detail]).toMatchObject([422, [{ type: "missing", loc: ["body"] }]])
  })

  it.each([
    ["as it was sent", express.raw({ type: "*/*", limit: "1mb" })],
    ["as it was parsed", express.json({ limit: "1mb" })]
  ])("is limited in its length %s", async (_, parser) => {
    const host = await behind(parser, { maxBody: 1_000 })
    const padded = (length: number) => {
      const pad = "x".repeat(length - JSON.stringify({ ...JSON.parse(host.text), person: "" }).length)
      return JSON.stringify({ ...JSON.parse(host.text), person: pad })
    }
    const gzip = { "content-encoding": "gzip" }
    // 422, because a person has at most 255 characters: the length of the body is checked first.
    const statuses = [1_000, 1_001].map(
      async (length) => (await host.client.call("POST", "/api/v1/events", gzipSync(padded(length)), gzip)).status
    )
    expect(await Promise.all(statuses)).toEqual([422, 413])
  })
})
