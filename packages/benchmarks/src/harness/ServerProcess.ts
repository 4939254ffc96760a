/**
 * A server in a process of its own: `ServerProcess.ts PLACE OPTIONS`, the options in JSON. It says its URL to its parent,
 * and ends with it.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ApiKeys, Recorder, type Storage, CommitLimits } from "@tachograph/core"
import { Front, MaxBodyBytes, Node, Routes } from "@tachograph/router"
import { NodeServer } from "@tachograph/server"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { createServer } from "node:http"
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
}

const partsOver = (database: ReturnType<typeof Databases.open>): Parts => ({
  storage: options.groupCommit === false ? Without.oneAtATime(database) : database.storage,
  recorder: options.pieces === false ? Without.pieces : Recorder.layer
})

const parts = (): Parts => {
  if (place === "without recorder") return { storage: Without.storage, recorder: Without.recorder }
  if (place === "without storage") return { storage: Without.storage, recorder: Recorder.layer }
  return partsOver(Databases.open(place))
}

const announce = (url: string) => Effect.sync(() => process.send?.({ url }))

/** As the standalone server: the Node mount. */
const standalone = Layer.effectDiscard(
  Effect.gen(function* () {
    const server = NodeServer.make(limits, yield* Node.make)
    const { url } = yield* NodeServer.listen(server, { host: "127.0.0.1", port: 0, backlog: limits.maxConnections })
    yield* announce(url)
  })
)

/** Both the contract and `GET /row` in a router of Effect's. */
const withRow = () =>
  Layer.effectDiscard(
    Effect.flatMap(HttpServer.HttpServer, ({ address }) => announce(HttpServer.formatAddress(address)))
  ).pipe(
    Layer.provide(
      HttpRouter.serve(
        Layer.mergeAll(Routes.layer, row.pipe(Layer.provide(Layer.orDie(Databases.open(place).client)))),
        {
          disableLogger: true,
          disableListenLog: true
        }
      )
    ),
    Layer.provide(NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 }))
  )

const { recorder, storage } = parts()
const app = (options.row ? withRow() : standalone).pipe(
  Layer.provide(Front.layer),
  Layer.provide(Layer.succeed(MaxBodyBytes, Recording.maxBody)),
  Layer.provide([recorder, ApiKeys.layer({ staticKeys: Recording.apiKeys.map((key) => Redacted.make(key)) })]),
  Layer.provide(options.groupCommit === false ? Layer.succeed(CommitLimits, Without.batchesOfOne) : Layer.empty),
  Layer.provide(storage)
)

const fiber = Effect.runFork(Layer.launch(app))
fiber.addObserver((exit) => process.exit(exit._tag === "Success" || stopping ? 0 : (console.error(exit), 1)))
let stopping = false
process.once("disconnect", () => {
  stopping = true
  Effect.runFork(Fiber.interrupt(fiber))
})
