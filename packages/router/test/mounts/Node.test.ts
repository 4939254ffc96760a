/** The way of the plain case over `node:http`, and where it hands over to the routes. */
import { MemoryStorage, Storage } from "@tachograph/core"
import { HttpClient } from "@tachograph/testkit"
import { Effect, Layer, Logger, References } from "effect"
import { connect } from "node:net"
import { describe, expect, it } from "vitest"
import { createTachograph } from "../../src/index.ts"
import { apiKey, event, fingerprint, opened } from "../Samples.ts"
import { exchange, served } from "../Served.ts"

const path = "/api/v1/events"

const start = async () => {
  const tachograph = await opened()
  const fetch = await served(tachograph.node)
  const body = JSON.stringify(event(await tachograph.fingerprint(fingerprint)))
  const count = async () => (await tachograph.recorder.listEvents()).events.length
  return { tachograph, fetch, client: HttpClient.make(fetch, apiKey), body, count }
}

const head = (...lines: ReadonlyArray<string>) =>
  [
    `POST ${path} HTTP/1.1`,
    "host: localhost",
    `authorization: Bearer ${apiKey}`,
    "connection: close",
    ...lines,
    "",
    ""
  ].join("\r\n")

describe("Create Event over node:http", () => {
  it("answers with the headers of every answer", async () => {
    const { body, client } = await start()
    const { headers, status } = await client.post(path, body)
    expect(status).toBe(200)
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/)
    })
  })

  it("takes a body that comes in pieces, of an announced length or in chunks", async () => {
    const { body, count, fetch } = await start()
    const [first, second] = [body.slice(0, 30), body.slice(30)]
    const announcedLength = await exchange(fetch.port, head(`content-length: ${body.length}`), first, second)
    expect(announcedLength).toMatch(/^HTTP\/1\.1 200 /)
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
    const chunked = await exchange(
      fetch.port,
      head("transfer-encoding: chunked"),
      chunk(first),
      chunk(second),
      "0\r\n\r\n"
    )
    expect(chunked).toMatch(/^HTTP\/1\.1 200 /)
    expect(await count()).toBe(2)
  })

  it("leaves to the routes what is not plain, after it has read it, too", async () => {
    const { body, client } = await start()
    const refused = async (...sent: Parameters<HttpClient.Client["call"]>) => {
      const { body, status } = await client.call(...sent)
      return [status, body.type ?? body.detail[0].loc.join(".")]
    }
    expect(await refused("POST", path, '{"event_name":"llm"}')).toEqual([422, "body.properties"])
    expect(await refused("POST", path, "{")).toEqual([422, "body.1"])
    expect(await refused("POST", path, body, { "content-type": "text/plain" })).toEqual([422, "body"])
    expect(await refused("POST", path, body, { "idempotency-key": "" })).toEqual([422, "header.idempotency-key"])
    expect(await refused("POST", path, body, { authorization: "Bearer nobody" })).toEqual([401, "unauthorized"])
    expect((await client.call("POST", `${path}?x=1`, body)).status).toBe(200)
    expect((await client.call("POST", path, body, { origin: "http://elsewhere" })).status).toBe(200)
  })

  it("refuses in the recorder's words, once", async () => {
    const { body, client, count } = await start()
    const session = await client.post(path, body.replace('"in process"', '""'))
    expect([session.status, session.body]).toEqual([422, { type: "session-id-empty" }])
    const unknown = await client.post(path, event("11111111-1111-4111-8111-111111111111"))
    expect([unknown.status, unknown.body]).toEqual([404, { type: "fingerprint-not-found" }])
    expect(await count()).toBe(0)
  })

  it("keeps nothing for a client that goes before it has sent all, and goes on", async () => {
    const { body, client, count, fetch } = await start()
    await new Promise<void>((resolve) => {
      const socket = connect(fetch.port, "127.0.0.1", () => {
        socket.write(head(`content-length: ${body.length}`) + body.slice(0, -1))
        setTimeout(() => resolve(void socket.destroy()), 50)
      })
    })
    expect((await client.post(path, body)).status).toBe(200)
    expect(await count()).toBe(1)
  })

  it("leaves an answer alone that the host has given meanwhile, and goes on", async () => {
    const { body, count, tachograph } = await start()
    const fetch = await served((request, response) => {
      tachograph.node(request, response)
      request.once("end", () => response.writeHead(202).end("the host's"))
    })
    const client = HttpClient.make(fetch, apiKey)
    for (let n = 0; n < 3; n++) {
      const answer = await client.post(path, body)
      expect([answer.status, answer.text]).toEqual([202, "the host's"])
    }
    // The host's answer waited for nothing.
    await expect.poll(count, { timeout: 10_000 }).toBe(3)
  })

  it("refuses what two readers could read in two ways", async () => {
    const { body, count, fetch } = await start()
    const twice = await exchange(
      fetch.port,
      head(`content-length: ${body.length}`, "content-type: a", "content-type: b") + body
    )
    expect(twice).toMatch(/^HTTP\/1\.1 400 /)
    const keys = await exchange(fetch.port, head(`content-length: ${body.length}`, "authorization: Bearer x") + body)
    expect(keys).toMatch(/^HTTP\/1\.1 401 /)
    expect(await count()).toBe(0)
  })

  it("answers 500 where nobody expected what happened, says where to look, and logs it there", async () => {
    const lines: Array<string> = []
    const logger = Logger.make(({ fiber, message }) =>
      lines.push(JSON.stringify([message, fiber.getRef(References.CurrentLogAnnotations)]))
    )
    const broken = Layer.effect(
      Storage,
      Effect.map(Storage, (storage) => Storage.of({ ...storage, hasFingerprint: () => Effect.die("secret") }))
    ).pipe(Layer.provide(MemoryStorage.layer), Layer.provideMerge(Logger.layer([logger])))
    const tachograph = await createTachograph({ storage: broken, apiKeys: [apiKey] })
    const fetch = await served(tachograph.node)
    const body = event("11111111-1111-4111-8111-111111111111")
    const answer = await HttpClient.make(fetch, apiKey).post(path, body)
    expect([answer.status, answer.body]).toEqual([500, { type: "internal", id: answer.headers.get("x-request-id") }])
    expect(lines.filter((line) => line.includes(answer.body.id) && line.includes("failed unexpectedly"))).toHaveLength(
      1
    )
    await tachograph.close()
  })
})
