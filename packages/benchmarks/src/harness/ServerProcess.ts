/**
 * A server in a process of its own: `ServerProcess.ts PLACE OPTIONS`, the options in JSON. It says its URL to its parent,
 * and ends with it.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ApiKeys, Recorder, type Storage, CommitLimits } from "@tachograph/core"
import { Authorizer, NodeLane, Routes } from "@tachograph/router"
import { NodeServer } from "@tachograph/server"
import { ByteSize, Effect, Fiber, Layer, Redacted } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import * as Databases from "./Databases.ts"
import * as Recording from "./Recording.ts"
import type { ServerOptions } from "./Servers.ts"
import * as Without from "./Without.ts"

const [place = "", json = "{}"] = process.argv.slice(2)
const options = JSON.parse(json) as ServerOptions

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
)

/** Wide enough for whatever a benchmark sends. */
const limits: NodeServer.Limits = { requestTimeoutMs: 60_000, maxHeaderBytes: 16 * 1024, maxConnections: 10_000 }

interface Parts {
  readonly storage: Layer.Layer<Storage, unknown>
  readonly recorder: Layer.Layer<Recorder, never, Storage>
  readonly routes: typeof Routes.layer
}

const partsOver = (database: ReturnType<typeof Databases.open>): Parts => ({
  storage: options.groupCommit === false ? Without.oneAtATime(database) : database.storage,
  recorder: options.pieces === false ? Without.pieces : Recorder.layer,
  routes: options.row
    ? Layer.mergeAll(Routes.layer, row.pipe(Layer.provide(Layer.orDie(database.client))))
    : Routes.layer
})

const parts: Parts =
  place === "without recorder"
    ? { storage: Without.storage, recorder: Without.recorder, routes: Routes.layer }
    : place === "without storage"
      ? { storage: Without.storage, recorder: Recorder.layer, routes: Routes.layer }
      : partsOver(Databases.open(place))

const announce = Effect.map(HttpServer.HttpServer, ({ address }) => {
  process.send?.({ url: HttpServer.formatAddress(address) })
})
const server = NodeServer.make(limits)
const lane = Effect.map(NodeLane.make, (lane) => {
  server.front = lane
})
const app = Layer.effectDiscard(announce).pipe(
  Layer.provide(
    HttpRouter.serve(parts.routes, {
      routerConfig: Routes.routerConfig,
      disableLogger: true,
      disableListenLog: true
    })
  ),
  Layer.provide(NodeHttpServer.layer(() => server, { host: "127.0.0.1", port: 0 })),
  Layer.provide(Layer.effectDiscard(lane).pipe(Layer.provide(Authorizer.layer))),
  Layer.provide(Layer.succeed(HttpServerRequest.MaxBodySize, ByteSize.bytes(Recording.maxBody))),
  Layer.provide([parts.recorder, ApiKeys.layer({ staticKeys: Recording.apiKeys.map((key) => Redacted.make(key)) })]),
  Layer.provide(options.groupCommit === false ? Layer.succeed(CommitLimits, Without.batchesOfOne) : Layer.empty),
  Layer.provide(parts.storage)
)

const fiber = Effect.runFork(Layer.launch(app))
fiber.addObserver((exit) => process.exit(exit._tag === "Success" || stopping ? 0 : (console.error(exit), 1)))
let stopping = false
process.once("disconnect", () => {
  stopping = true
  Effect.runFork(Fiber.interrupt(fiber))
})
