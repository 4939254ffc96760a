/** An Effect application that composes Tachograph's layers with its own. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { ApiKeys, Recorder } from "@tachograph/core"
import { BasePath, Front, Routes } from "@tachograph/router"
import { SqliteStorage } from "@tachograph/storage-sqlite"
import { Cause, Config, Effect, Exit, Layer, Runtime } from "effect"
import { FetchHttpClient, HttpRouter } from "effect/http"
import { createServer } from "node:http"
import * as Chat from "./Chat.ts"

const keys = Layer.unwrap(
  Effect.map(Config.Redacted("TACHOGRAPH_API_KEY"), (key) => ApiKeys.layer({ staticKeys: [key] }))
)

const tachograph = Front.layer.pipe(
  Layer.provide([Recorder.layer, keys]),
  Layer.provide(SqliteStorage.layer({ filename: "tachograph.db" })),
  Layer.provideMerge(Layer.succeed(BasePath, "/tachograph"))
)

const server = Layer.unwrap(
  Effect.map(Config.Int("PORT").pipe(Config.withDefault(3000)), (port) =>
    NodeHttpServer.layer(createServer, { host: "127.0.0.1", port })
  )
)

const application = HttpRouter.serve(Layer.merge(Chat.layer, Routes.layer)).pipe(
  Layer.provide([tachograph, server, FetchHttpClient.layer])
)

NodeRuntime.runMain(Layer.launch(application), {
  // A signal is a normal way to end: exit with 0.
  teardown: (exit, onExit) =>
    Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit)
})
