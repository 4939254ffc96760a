/** The storage, the recorder and the engine of the thread, and what they need. */
import {
  CollectGarbage,
  CommitLimits,
  DeriveInBackground,
  KeyStorage,
  Prices,
  Recorder,
  SessionCacheBytes,
  StaleSessions,
  Storage,
  type StorageModule
} from "@tachograph/core"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { BasePath } from "../../BasePath.ts"
import { Engine, OtlpWaitMs, ProxyUpstreams, RedactPatterns, ServesViewer } from "../../Engine.ts"
import * as LocalEngine from "../LocalEngine.ts"
import { errorData } from "./ErrorData.ts"
import type { FromThread, Start } from "./Messages.ts"
import type { Outbox } from "./Outbox.ts"
import * as Spans from "./Spans.ts"

export const openStorage = async ({ args, name, url }: StorageModule): Promise<Layer.Layer<Storage, unknown>> => {
  const module = (await import(url)) as Readonly<Record<string, (...args: ReadonlyArray<unknown>) => unknown>>
  return module[name]!(...args) as Layer.Layer<Storage, unknown>
}

/** Logs on the thread of the host. */
const forwardingLogger = (outbox: Outbox<FromThread>) =>
  Logger.make<unknown, void>(({ cause, fiber, logLevel, message }) => {
    const annotations = fiber.getRef(References.CurrentLogAnnotations)
    outbox.send({
      type: "log",
      // A line is never logged at `All` or `None`.
      level: logLevel as LogLevel.Severity,
      message: (Array.isArray(message) ? message : [message]).map(String),
      cause: cause.reasons.length === 0 ? undefined : errorData(Cause.squash(cause)),
      annotations: JSON.parse(JSON.stringify(annotations)) as Readonly<Record<string, unknown>>
    })
  })

/** Announces the sessions that were found stale here to the host, which passes them on to the other thread. */
const announcing = (outbox: Outbox<FromThread>, isFromHost: () => boolean) =>
  Layer.effectDiscard(
    Effect.flatMap(StaleSessions, ({ listen }) =>
      listen((...stale) => {
        if (!isFromHost()) outbox.send({ type: "stale", stale })
      })
    )
  )

/** A layer of all that the thread works with. */
export const layer = (
  start: Start,
  outbox: Outbox<FromThread>,
  opened: Layer.Layer<Storage, unknown>,
  isFromHost: () => boolean
) =>
  Layer.mergeAll(LocalEngine.layer.pipe(Layer.provideMerge(Recorder.layer)), KeyStorage.layer).pipe(
    Layer.merge(announcing(outbox, isFromHost)),
    Layer.provideMerge(StaleSessions.layer),
    Layer.provideMerge(opened),
    Layer.provideMerge(
      Layer.mergeAll(
        Layer.succeed(BasePath, start.basePath),
        Layer.succeed(CommitLimits, start.commitLimits),
        Layer.succeed(SessionCacheBytes, start.sessionCacheBytes),
        Layer.succeed(Prices, start.prices),
        Layer.succeed(RedactPatterns, start.redact),
        Layer.succeed(OtlpWaitMs, start.otlpWaitMs),
        Layer.succeed(ServesViewer, start.servesViewer),
        Layer.succeed(ProxyUpstreams, start.proxyUpstreams),
        Layer.succeed(DeriveInBackground, !start.isReading),
        Logger.layer([forwardingLogger(outbox)]),
        Layer.succeed(References.MinimumLogLevel, start.logLevel),
        start.isTraced
          ? Layer.succeed(
              Tracer.Tracer,
              Spans.forwarding((item) => outbox.send(item))
            )
          : Layer.empty
      )
    )
  )

export const services = Effect.all({
  collectGarbage: CollectGarbage,
  engine: Engine,
  keys: KeyStorage,
  recorder: Recorder,
  staleSessions: StaleSessions,
  storage: Storage,
  context: Effect.context<never>()
})

export type Services = Effect.Success<typeof services>
