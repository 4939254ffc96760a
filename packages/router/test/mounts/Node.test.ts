/** Create Event through the mount for `node:http`. */
import { MemoryStorage, Storage } from "@tachograph/core"
import { HttpClient } from "@tachograph/testkit"
import { Effect, Exit, Layer, Logger, References, Scope } from "effect"
import { IncomingMessage, type RequestListener, ServerResponse } from "node:http"
import { connect, Socket } from "node:net"
import { describe, expect, it } from "vitest"
import { CloseGraceMs, createTachograph, Front, Node } from "../../src/index.ts"
import { apiKey, event, fingerprint, opened } from "../Samples.ts"
import { exchange, served } from "../Served.ts"

const path = "/api/v1/events"

const start = async () => {
  const tachograph = await opened()
  const fetch = await served(tachograph.node)
  const body = JSON.stringify(event(await tachograph.fingerprint(fingerprint)))
  const count = async () => (await tachograph.api.listEvents()).events.length
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
  it("answers with the standard headers", async () => {
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

  it("accepts a body in pieces, with a content length or chunked", async () => {
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

  it("answers invalid requests as every mount does, and accepts any query and origin", async () => {
    const { body, client } = await start()
    const refused = async (...sent: Parameters<HttpClient.Client["call"]>) => {
      const { body, status } = await client.call(...sent)
      return [status, body.type ?? body.detail[0].loc.join(".")]
    }
    expect(await refused("POST", path, '{"event_name":"llm"}')).toEqual([422, "body.properties"])
    expect(await refused("POST", path, "{")).toEqual([422, "body.1"])
    expect(await refused("POST", path, body, { "content-type": "text/plain" })).toEqual([422, "body"])
    expect(await refused("POST", path, body, { "idempotency-key": "" })).toEqual([422, "header.idempotency-key"])
    expect(await refused("POST", path, body, { authorization: "Bearer unknown" })).toEqual([401, "unauthorized"])
    expect((await client.call("POST", `${path}?x=1`, body)).status).toBe(200)
    expect((await client.call("POST", path, body, { origin: "http://elsewhere" })).status).toBe(200)
  })

  it("answers the errors of the recorder, and stores nothing", async () => {
    const { body, client, count } = await start()
    const session = await client.post(path, body.replace('"in process"', '""'))
    expect([session.status, session.body]).toEqual([422, { type: "session-id-empty" }])
    const unknown = await client.post(path, event("11111111-1111-4111-8111-111111111111"))
    expect([unknown.status, unknown.body]).toEqual([404, { type: "fingerprint-not-found" }])
    expect(await count()).toBe(0)
  })

  it("stores nothing for a client that disconnects within its body, and continues", async () => {
    const { body, client, count, tachograph } = await start()
    await new Promise<void>((resolve, reject) => {
      const handle: RequestListener = (request, response) => {
        tachograph.node(request, response)
        request.once("close", resolve)
        socket.destroy()
      }
      let socket: Socket
      void served(handle).then(({ port }) => {
        socket = connect(port, "127.0.0.1").on("error", reject)
        socket.write(head(`content-length: ${body.length}`) + body.slice(0, -1))
      })
    })
    expect((await client.post(path, body)).status).toBe(200)
    expect(await count()).toBe(1)
  })

  it("does not overwrite an answer that the host has given, and records the event", async () => {
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
    // The host answered before the events were committed.
    await expect.poll(count).toBe(3)
  })

  it("rejects an ambiguous request", async () => {
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

  it("answers 500 for an unexpected error, with the id under which it is logged", async () => {
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

describe("Closing", () => {
  it("waits for a commit, but not for ever", async () => {
    for (const commit of [Effect.sleep(20), Effect.never]) {
      let isCommitted = false
      const answer = Effect.uninterruptible(
        Effect.as(
          Effect.tap(commit, () => Effect.sync(() => (isCommitted = true))),
          { status: 200, headers: {}, body: "" }
        )
      )
      const scope = Scope.makeUnsafe()
      const handler = await Effect.runPromise(
        Node.make.pipe(
          Effect.provideService(Front, { handle: () => answer, handleOwn: () => answer, endStreams: () => {} }),
          Effect.provideService(CloseGraceMs, commit === Effect.never ? 10 : 60_000),
          Effect.provideService(Scope.Scope, scope)
        )
      )
      const message = Object.assign(new IncomingMessage(new Socket()), { method: "POST", url: path })
      handler(message, new ServerResponse(message))
      await Effect.runPromise(Scope.close(scope, Exit.void))
      expect(isCommitted).toBe(commit !== Effect.never)
    }
  })
})

describe("Answers that are ready in the same turn of the event loop", () => {
  it("are written together at its end", async () => {
    const answer = { status: 200, headers: {}, body: "" }
    const handle = await Effect.runPromise(
      Effect.gen(function* () {
        const handler = yield* Node.make
        return (isAnswered: boolean) => {
          const message = Object.assign(new IncomingMessage(new Socket()), { method: "GET", url: "/" })
          const response = new ServerResponse(message)
          if (isAnswered) response.writeHead(202)
          handler(message, response)
          return response
        }
      }).pipe(
        Effect.provideService(Front, { handle: () => answer, handleOwn: () => answer, endStreams: () => {} }),
        Effect.provideService(Scope.Scope, Scope.makeUnsafe())
      )
    )
    const responses = [handle(false), handle(true), handle(false)]
    expect(responses.map(({ writableEnded }) => writableEnded)).toEqual([false, false, false])
    await new Promise(setImmediate)
    // The host has answered the second.
    expect(responses.map(({ writableEnded }) => writableEnded)).toEqual([true, false, true])
  })
})
