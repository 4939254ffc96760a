/**
 * A server in a process of its own: `ServerProcess.ts PLACE OPTIONS`, the options in JSON. It says its URL to its parent,
 * and ends with it.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ApiKeys, Marks, Recorder, type Storage } from "@tachograph/core"
import { Routes } from "@tachograph/router"
import { ByteSize, Effect, Fiber, Layer, Redacted } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { createServer } from "node:http"
import * as Databases from "./Databases.ts"
import * as Recording from "./Recording.ts"
import type { ServerOptions } from "./Servers.ts"

const [place = "", options = "{}"] = process.argv.slice(2)
const { pieces, row: hasRow = false } = JSON.parse(options) as ServerOptions
const database = Databases.open(place)

/** Nothing is marked, and so nothing is a piece: every payload is compressed whole. */
const whole = (value: Marks.MarkedValue): Marks.MarkedValue => ({ ...value, marks: [], conversations: [] })

/** The same recorder, but for pieces. */
const withoutPieces = Layer.effect(
  Recorder,
  Effect.map(Recorder, (recorder) => ({
    ...recorder,
    beginningsOf: () => Marks.noBeginnings,
    createEvent: (event) => {
      const { inputs, output, text } = event.payload
      const payload = { text, inputs: whole(inputs), output: whole(output), beginnings: Marks.noBeginnings }
      return recorder.createEvent({ ...event, payload })
    }
  }))
).pipe(Layer.provide(Recorder.layer))

/** `GET /row`: the text of the one row that `Reading.ts` wrote, through the same stack. */
const row = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const sql = yield* SqlClient.SqlClient
    const answer = Effect.map(
      Effect.orDie(sql<{ text: Uint8Array }>`SELECT text FROM one_row WHERE id = 1`),
      ([found]) => HttpServerResponse.uint8Array(found!.text, { contentType: "application/json" })
    )
    yield* router.add("GET", "/row", answer)
  })
).pipe(Layer.provide(database.client))

const storage: Layer.Layer<Storage, unknown> = database.storage
const announce = Effect.map(HttpServer.HttpServer, ({ address }) => {
  process.send?.({ url: HttpServer.formatAddress(address) })
})
const app = Layer.effectDiscard(announce).pipe(
  Layer.provide(
    HttpRouter.serve(hasRow ? Layer.mergeAll(Routes.layer, row) : Routes.layer, {
      routerConfig: Routes.routerConfig,
      disableLogger: true,
      disableListenLog: true
    })
  ),
  Layer.provide(Layer.succeed(HttpServerRequest.MaxBodySize, ByteSize.bytes(Recording.maxBody))),
  Layer.provide(NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 })),
  Layer.provide([
    pieces ? Recorder.layer : withoutPieces,
    ApiKeys.layer({ staticKeys: Recording.apiKeys.map((key) => Redacted.make(key)) })
  ]),
  Layer.provide(storage)
)

const fiber = Effect.runFork(Layer.launch(app))
fiber.addObserver((exit) => process.exit(exit._tag === "Success" || stopping ? 0 : (console.error(exit), 1)))
let stopping = false
process.once("disconnect", () => {
  stopping = true
  Effect.runFork(Fiber.interrupt(fiber))
})
