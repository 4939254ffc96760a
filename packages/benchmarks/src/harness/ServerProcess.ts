/**
 * Tachograph as a process: `ServerProcess.ts ADDRESS OPTIONS`, with the options in JSON. It sends its URL to its parent and
 * exits with it.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ApiKeys, Recorder, type Storage, CommitLimits } from "@tachograph/core"
import { Front, MaxBodyBytes, Node, Routes } from "@tachograph/router"
import { NodeServer } from "@tachograph/server"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { createServer } from "node:http"
import * as Databases from "./Databases.ts"
import * as DisabledParts from "./DisabledParts.ts"
import * as Recording from "./Recording.ts"
import type { ServerOptions } from "./Servers.ts"

const [address = "", json = "{}"] = process.argv.slice(2)
const options = JSON.parse(json) as ServerOptions

/** `GET /row`: the single row that `Reading.ts` inserted, through the same HTTP stack. */
const row = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const sql = yield* SqlClient.SqlClient
    const response = Effect.map(
      Effect.orDie(sql<{ text: Uint8Array }>`SELECT text FROM one_row WHERE id = 1`),
      ([only]) => HttpServerResponse.uint8Array(only!.text, { contentType: "application/json" })
    )
    yield* router.add("GET", "/row", response)
  })
)

/** Larger than any benchmark needs. */
const limits: NodeServer.Limits = { requestTimeoutMs: 60_000, maxHeaderBytes: 16 * 1024, maxConnections: 10_000 }

interface Parts {
  readonly storage: Layer.Layer<Storage, unknown>
  readonly recorder: Layer.Layer<Recorder, never, Storage>
}

const partsOver = (database: ReturnType<typeof Databases.open>): Parts => ({
  storage: options.groupCommit === false ? DisabledParts.oneTransactionPerConnection(database) : database.storage,
  recorder: options.pieces === false ? DisabledParts.recorderWithoutPieces : Recorder.layer
})

const selectParts = (): Parts => {
  const { discardingRecorder, discardingStorage } = DisabledParts
  if (address === "stub recorder") return { storage: discardingStorage, recorder: discardingRecorder }
  if (address === "stub storage") return { storage: discardingStorage, recorder: Recorder.layer }
  return partsOver(Databases.open(address))
}

const announce = (url: string) => Effect.sync(() => process.send?.({ url }))

/** The Node mount, as in the standalone server. */
const standalone = Layer.effectDiscard(
  Effect.gen(function* () {
    const server = NodeServer.make(limits, yield* Node.make)
    const { url } = yield* NodeServer.listen(server, { host: "127.0.0.1", port: 0, backlog: limits.maxConnections })
    yield* announce(url)
  })
)

/** An Effect `HttpRouter` with Tachograph's routes and `GET /row`. */
const withRow = () =>
  Layer.effectDiscard(
    Effect.flatMap(HttpServer.HttpServer, ({ address }) => announce(HttpServer.formatAddress(address)))
  ).pipe(
    Layer.provide(
      HttpRouter.serve(
        Layer.mergeAll(Routes.layer, row.pipe(Layer.provide(Layer.orDie(Databases.open(address).client)))),
        {
          disableLogger: true,
          disableListenLog: true
        }
      )
    ),
    Layer.provide(NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 }))
  )

const { recorder, storage } = selectParts()
const app = (options.row ? withRow() : standalone).pipe(
  Layer.provide(Front.layer),
  Layer.provide(Layer.succeed(MaxBodyBytes, Recording.bodyBudgetBytes)),
  Layer.provide([recorder, ApiKeys.layer({ staticKeys: Recording.apiKeys.map((key) => Redacted.make(key)) })]),
  Layer.provide(options.groupCommit === false ? Layer.succeed(CommitLimits, DisabledParts.batchesOfOne) : Layer.empty),
  Layer.provide(storage)
)

const fiber = Effect.runFork(Layer.launch(app))
let isStopping = false
fiber.addObserver((exit) => {
  if (exit._tag === "Success" || isStopping) process.exit(0)
  console.error(exit)
  process.exit(1)
})
process.once("disconnect", () => {
  isStopping = true
  Effect.runFork(Fiber.interrupt(fiber))
})
