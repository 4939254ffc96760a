/**
 * The engine answers requests that the front has admitted: it decodes, talks to the recorder, and encodes every answer.
 * Nothing crosses this boundary that cannot be cloned or transferred, so that the engine could run on a thread of its own.
 */
import type { SignIn as SignInGroup } from "@tachograph/api"
import type { AdmissionControl, ProjectId, Scope } from "@tachograph/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { PassedCall } from "./calls/PassedCall.ts"
import type { Answer } from "./response/Answer.ts"
import type { BodyStream } from "./response/BodyStream.ts"

/** The pages beside the contract, by the names under which the engine answers them. */
export const pagePaths = { openapi: "/openapi.json", docs: "/docs" } as const

/** Where OpenTelemetry is sent to, by the names under which the engine answers it. */
export const otlpPaths = {
  otlpTraces: "/otlp/v1/traces",
  otlpLogs: "/otlp/v1/logs",
  otlpMetrics: "/otlp/v1/metrics"
} as const

/** Where Langfuse's exporters send traces to, which know no other path. */
export const langfusePath = "/api/public/otel/v1/traces"

/** Whether that path is served. It takes the key as the password of `Basic`, which is all that those exporters know. */
export const ServesLangfuse = Context.Reference<boolean>("tachograph/router/ServesLangfuse", {
  defaultValue: () => false
})

/** 60 s. */
export const defaultOtlpWaitMs = 60_000

/** How long a call that OpenTelemetry tells waits for what may say more of it (ms): then it is recorded as it is. */
export const OtlpWaitMs = Context.Reference<number>("tachograph/router/OtlpWaitMs", {
  defaultValue: () => defaultOtlpWaitMs
})

/** The viewer, by the names under which the engine answers it: its page, the files of it, and the path that lacks a slash. */
export const viewerPaths = {
  viewer: "/viewer/",
  viewerFile: "/viewer/assets/:file",
  viewerRedirect: "/viewer"
} as const

/** Whether the viewer is served. */
export const ServesViewer = Context.Reference<boolean>("tachograph/router/ServesViewer", { defaultValue: () => true })

/** The names of the upstreams that the recording proxy passes calls on to; null if it is off. */
export const ProxyUpstreams = Context.Reference<ReadonlyArray<string> | null>("tachograph/router/ProxyUpstreams", {
  defaultValue: () => null
})

/** Whether a body with fields that are unknown is refused. Otherwise they are ignored, and the answer names them. */
export const IsStrict = Context.Reference<boolean>("tachograph/router/IsStrict", { defaultValue: () => false })

/** The list of patterns whose matches no event may have, as text; null if none is given. */
export const RedactPatterns = Context.Reference<string | null>("tachograph/router/RedactPatterns", {
  defaultValue: () => null
})

/** How people sign in. */
export type SignIn = (typeof SignInGroup.SignInOnWire)["Type"]

/** What `GET /api/v1/sign-in` says. A rule of the host (`Authorizer.layerRule`) needs `{ by: "application", … }`: keys open nothing then. */
export const SignInWay = Context.Reference<SignIn>("tachograph/router/SignInWay", {
  defaultValue: () => ({ by: "key", login: null, logout: null })
})

/** A request whose path is matched, whose sender is authorized, and whose body is complete. */
export interface Exchange {
  readonly requestId: string
  /** The endpoint's name in the contract, or the name of a page beside it. */
  readonly endpoint: string
  /** The segments that the path names, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** The query as it was sent, without its question mark. */
  readonly query: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The project that the sender may work in. */
  readonly project: ProjectId
  readonly scopes: ReadonlyArray<Scope>
  /** Who the sender is, for the audit log. */
  readonly actor: string
  /** Empty for endpoints that take none. */
  readonly body: Uint8Array
  /** The body of an endpoint that reads it as it comes. Crosses to another thread apart from the exchange. */
  readonly stream?: BodyStream | undefined
  /** For Create Event: the call that its event is to be made of. The body holds the copies of the call's bodies then. */
  readonly passed?: PassedCall | undefined
  /** The limit on the length of an event's body (bytes), for what holds several, or is no event yet. */
  readonly maxEventBytes: number
  /** The limit on the length of every other body (bytes), likewise. */
  readonly maxOtherBytes: number
  /** The limits on a batch of events: its bytes, and its lines. */
  readonly maxBatchBytes: number
  readonly maxBatchLines: number
  /** Whether unknown fields of a body are refused. */
  readonly isStrict: boolean
  /** Whether nothing but this exchange uses the memory of the body. */
  readonly isBodyOwned: boolean
  /** When the body was complete, in milliseconds on the clock of `performance.now()` of this thread. */
  readonly arrivedAtMs: number
}

/** The largest answer that is not counted, unless it waits behind others (bytes): 4,096 connections hold at most 64 MiB of them. */
export const smallAnswerBytes = 16 * 1024

/** Whether an answer always counts until its client has taken it. Smaller ones do behind others: `mounts/Pipelining.ts`. */
export const isCounted = (bytes: number): boolean => bytes > smallAnswerBytes

/**
 * Counts the bytes of the answer to the current request before they are read from the storage. False if the process holds
 * too much already: then the engine answers `overloaded`. 0 gives them back, where an answer is made in pieces. For a call that
 * passed the proxy it counts what the event takes beyond the copies. The front provides it.
 */
export const ReserveAnswer = Context.Reference<(bytes: number) => Effect.Effect<boolean>>(
  "tachograph/router/ReserveAnswer",
  { defaultValue: () => () => Effect.succeed(true) }
)

export class Engine extends Context.Service<
  Engine,
  {
    /** Decides which requests the front lets through. */
    readonly admission: AdmissionControl
    /** Never fails: every error is an answer. */
    readonly handle: (exchange: Exchange) => Effect.Effect<Answer>
  }
>()("tachograph/router/Engine") {}
