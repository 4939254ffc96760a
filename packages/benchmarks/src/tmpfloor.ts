import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, References, Tracer } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse, HttpMiddleware } from "effect/http"
import { createServer } from "node:http"
const mode = process.argv[2]
const announce = Effect.map(HttpServer.HttpServer, ({ address }) => { process.send?.({ url: HttpServer.formatAddress(address) }) })
const handler = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const buffer = yield* request.arrayBuffer
  JSON.parse(Buffer.from(buffer).toString())
  return HttpServerResponse.text(`{"event_id":"x","received_at":"y"}`, { contentType: "application/json" })
})
const serve = mode === "bare" ? HttpServer.serve(handler) : HttpRouter.serve(HttpRouter.add("POST", "/api/v1/events", handler), { disableLogger: true, disableListenLog: true })
let app: any = Layer.effectDiscard(announce).pipe(Layer.provide(serve as any), Layer.provide(NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 })))
if (mode === "router-notrace") app = app.pipe(Layer.provide(Layer.succeed(References.TracerEnabled, false)))
Effect.runFork(Layer.launch(app) as any)
process.once("disconnect", () => process.exit())
