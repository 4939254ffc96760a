/** A server of each kind around a front, which ends with the test. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { serve } from "@hono/node-server"
import { Effect, Layer, ManagedRuntime, Scope } from "effect"
import { HttpRouter } from "effect/http"
import express from "express"
import fastify from "fastify"
import { Hono } from "hono"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"
import { type Front, Node, Routes } from "../../src/index.ts"
import * as Web from "../../src/mounts/Web.ts"

type Runtime = ManagedRuntime.ManagedRuntime<Front, unknown>

const listen = async (listener: RequestListener): Promise<number> => {
  const server = createServer(listener)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

const nodeHandler = (runtime: Runtime) =>
  runtime.runPromise(Effect.provideService(Node.make, Scope.Scope, Scope.makeUnsafe()))

export const webHandler = (runtime: Runtime) =>
  runtime.runPromise(Effect.provideService(Web.make, Scope.Scope, Scope.makeUnsafe()))

export const servers: Readonly<Record<string, (runtime: Runtime) => Promise<number>>> = {
  "node:http": async (runtime) => listen(await nodeHandler(runtime)),
  Express: async (runtime) => listen(express().use(await nodeHandler(runtime))),
  Fastify: async (runtime) => {
    const handler = await nodeHandler(runtime)
    const app = fastify()
    app.addHook("onRequest", (request, reply, done) => void handler(request.raw, reply.raw, done))
    onTestFinished(() => {
      app.server.closeAllConnections()
      return app.close()
    })
    await app.listen({ host: "127.0.0.1", port: 0 })
    return (app.server.address() as AddressInfo).port
  },
  Hono: async (runtime) => {
    const handle = await webHandler(runtime)
    const app = new Hono()
      .onError((_, context) => context.body(null, 500))
      .all("*", async ({ req }) => (await handle(req.raw))!)
    return new Promise((resolve) => {
      const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => resolve(port))
      onTestFinished(() => void server.close())
    })
  },
  "Effect's HttpRouter": async (runtime) => {
    const server = createServer()
    const serving = ManagedRuntime.make(
      HttpRouter.serve(Routes.layer, { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provide(NodeHttpServer.layer(() => server, { host: "127.0.0.1", port: 0 })),
        Layer.provide(Layer.succeedContext(await runtime.context()))
      )
    )
    onTestFinished(() => serving.dispose())
    onTestFinished(() => server.closeAllConnections())
    await serving.runPromise(Effect.void)
    return (server.address() as AddressInfo).port
  }
}
