/** Tachograph mounted in a host application, beside its own routes. */
import { HttpClient } from "@tachograph/testkit"
import express from "express"
import fastify, { type FastifyInstance } from "fastify"
import { Hono } from "hono"
import { describe, expect, it, onTestFinished } from "vitest"
import { apiKey, event, fingerprint, opened } from "../Samples.ts"
import { served } from "../Served.ts"

const basePath = "/tachograph"
const authorization = `Bearer ${apiKey}`

const overFastify = async (): Promise<FastifyInstance> => {
  const tachograph = await opened({ basePath })
  const app = fastify()
  app.addHook("onRequest", (request, reply, done) => tachograph.node(request.raw, reply.raw, done))
  app.post("/orders", (request) => ({ ordered: request.body }))
  onTestFinished(() => app.close())
  return app
}

describe("A host application", () => {
  const hosts: ReadonlyArray<readonly [string, () => Promise<HttpClient.Fetch>]> = [
    [
      "Express",
      async () => {
        const tachograph = await opened({ basePath })
        const app = express().use(tachograph.node, express.json())
        return served(app.post("/orders", (request, response) => void response.json({ ordered: request.body })))
      }
    ],
    ["Fastify", async () => HttpClient.at(await (await overFastify()).listen({ host: "127.0.0.1", port: 0 }))],
    [
      "Hono",
      async () => {
        const tachograph = await opened({ basePath })
        const app = new Hono().all(`${basePath}/*`, (context) => tachograph.fetch(context.req.raw))
        app.post("/orders", async (context) => context.json({ ordered: await context.req.json() }))
        return async (request) => app.fetch(request)
      }
    ]
  ]

  it.each(hosts)("still reads the bodies of its own routes, with %s", async (_, open) => {
    const client = HttpClient.make(await open(), apiKey)
    const order = { item: "x".repeat(100_000) }
    expect((await client.post("/orders", order)).body).toEqual({ ordered: order })
    const { body } = await client.put(`${basePath}/api/v1/fingerprints`, fingerprint)
    const path = `${basePath}/api/v1/events`
    expect((await client.post(path, event(body.fingerprint_id))).status).toBe(200)
    expect((await client.get(path)).body.events).toHaveLength(1)
  })

  it("can call its routes and ours with Fastify's inject, without a port", async () => {
    const app = await overFastify()
    const headers = { authorization }
    const put = await app.inject({
      method: "PUT",
      url: `${basePath}/api/v1/agents`,
      headers,
      payload: { agent_name: "injected" }
    })
    expect([put.statusCode, put.json().agent_name]).toEqual([200, "injected"])
    const own = await app.inject({ method: "POST", url: "/orders", payload: { item: 1 } })
    expect(own.json()).toEqual({ ordered: { item: 1 } })
  })

  it("gets the usual answers from endpoints without a body, behind a body parser", async () => {
    const tachograph = await opened()
    const client = HttpClient.make(await served(express().use(express.json(), tachograph.node)), apiKey)
    const answers = [
      ["OPTIONS", "/api/v1/events", 204],
      ["PUT", "/api/v1/events", 405],
      ["DELETE", "/api/v1/people/unknown", 404]
    ] as const
    for (const [method, path, status] of answers) {
      expect([method, (await client.call(method, path, { some: "body" })).status]).toEqual([method, status])
    }
    const head = await client.call("HEAD", "/api/v1/events")
    expect([head.status, head.text]).toEqual([200, ""])
  })

  it.each([
    ["has read", async (request: Request) => void (await request.text())],
    ["is reading", async (request: Request) => void request.body!.getReader()]
  ])("gets a 422 for a web request whose body it %s", async (_, read) => {
    const tachograph = await opened()
    const body = JSON.stringify({ agent_name: "read" })
    const request = new Request("http://localhost/api/v1/agents", { method: "PUT", headers: { authorization }, body })
    await read(request)
    const answer = await tachograph.fetch(request)
    expect([answer.status, await answer.json()]).toMatchObject([422, { detail: [{ type: "json_invalid" }] }])
  })
})
