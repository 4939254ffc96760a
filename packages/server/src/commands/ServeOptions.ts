/** The options of `tachograph serve`. */
import {
  defaultAnswerTimeoutMs,
  defaultMaxBatch,
  defaultMaxBatchLines,
  defaultMaxBody,
  defaultMaxOtherBody,
  defaultOtlpWaitMs
} from "@tachograph/router"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Flag } from "effect/cli"
import * as Logging from "../config/Logging.ts"
import * as FileSettings from "../config/FileSettings.ts"
import * as Setting from "../config/Setting.ts"
import * as StorageSetting from "../config/StorageSetting.ts"
import * as Workers from "../workers/Workers.ts"
import * as BackupSettings from "./BackupSettings.ts"
import * as ProxySettings from "./ProxySettings.ts"
import * as SignInSettings from "./SignInSettings.ts"
import { parseBytes, timeout } from "./SettingParsers.ts"

const host = Setting.make({
  name: "host",
  metavar: "HOST",
  description: "The address to listen on",
  default: "127.0.0.1",
  expected: "an address or a host name",
  parse: Option.liftPredicate((text) => /^[\w.:%-]+$/.test(text))
})

const port = Setting.make({
  name: "port",
  metavar: "PORT",
  description: "The port to listen on; with 0 the system chooses a free one",
  default: "4400",
  expected: "a port, 0 to 65535",
  parse: (text) => Option.filter(Option.some(/^\d{1,5}$/.test(text) ? Number(text) : -1), (n) => n >= 0 && n <= 65_535)
})

const parseCount = (text: string) =>
  Option.filter(Option.some(/^\d+$/.test(text) ? Number(text) : 0), (n) => n >= 1 && n <= 1_000_000)

const bodyLimit = (name: string, whose: string, defaultBytes: number) =>
  Setting.make({
    name,
    metavar: "BYTES",
    description: `The largest accepted body of ${whose}, as sent and decompressed`,
    default: `${defaultBytes / 1024 ** 2}MiB`,
    // V8's longest string has half a gibibyte.
    expected: "a number of bytes up to 511MiB, such as 1048576, 512KiB or 32MiB",
    parse: parseBytes(1, 511 * 1024 ** 2)
  })

export const maxBody = bodyLimit("max-body", "an event", defaultMaxBody)
const maxOtherBody = bodyLimit("max-other-body", "any other request", defaultMaxOtherBody)
const maxBatch = bodyLimit("max-batch", "a batch of events", defaultMaxBatch)

const maxBatchLines = Setting.make({
  name: "max-batch-lines",
  metavar: "COUNT",
  description: "The most lines of a batch of events",
  default: String(defaultMaxBatchLines),
  expected: "a number from 1 to 1000000",
  parse: parseCount
})

const maxHeader = Setting.make({
  name: "max-header",
  metavar: "BYTES",
  description: "The largest accepted request line and headers",
  default: "16KiB",
  expected: "a number of bytes up to 1MiB, such as 16384 or 16KiB",
  parse: parseBytes(1, 1024 ** 2)
})

const requestTimeout = timeout("request-timeout", "How long a client may take to send a request", 14)
const answerTimeout = timeout(
  "answer-timeout",
  "How long a client may take nothing of a large answer",
  defaultAnswerTimeoutMs / 1_000
)

export const maxConnections = Setting.make({
  name: "max-connections",
  metavar: "COUNT",
  description: "Concurrent connections; further ones are closed immediately",
  default: "4096",
  expected: "a number from 1 to 1000000",
  parse: parseCount
})

const sessionMemory = Setting.make({
  name: "session-memory",
  metavar: "BYTES",
  description: "Size of the session cache; evicted sessions are read again",
  default: "64MiB",
  expected: "a number of bytes from 0 to 64GiB, such as 0, 16MiB or 1GiB",
  parse: parseBytes(0, 64 * 1024 ** 3)
})

const hours: Readonly<Record<string, number>> = { h: 1, d: 24 }
const maxRetainedDays = 36_500

const retain = Setting.make({
  name: "retain",
  metavar: "TIME",
  description: "How long events are kept; older ones are erased in the background, in all projects",
  default: "none",
  expected: `a time from 1h to ${maxRetainedDays}d, such as 12h or 90d, or none`,
  parse: (text): Option.Option<Duration.Duration | undefined> => {
    if (text === "none") return Option.some(undefined)
    const [, count, unit] = /^(\d+)([hd])$/.exec(text) ?? []
    const retentionHours = Number(count) * (hours[unit ?? ""] ?? 0)
    return Option.map(
      Option.filter(Option.some(retentionHours), (value) => value >= 1 && value <= 24 * maxRetainedDays),
      Duration.hours
    )
  }
})

/** What is so, unless the option says otherwise. */
const unlessNot = (name: string, [yes, no]: readonly [yes: string, no: string], description: string) =>
  Setting.make({
    name,
    metavar: `${yes}|${no}`.toUpperCase(),
    description,
    default: yes,
    expected: `${yes} or ${no}`,
    parse: Setting.parseSwitch
  })

const migrate = unlessNot(
  "migrate",
  ["yes", "no"],
  "Whether to run migrations at startup; with no, the tables must be up to date"
)

const thread = unlessNot(
  "thread",
  ["yes", "no"],
  "Whether events are processed and stored on a thread of their own; never with memory:"
)

const cors = Setting.make({
  name: "cors",
  metavar: "ORIGIN",
  description: "An origin whose pages may call the server from a browser",
  default: "none",
  expected: "an origin such as https://app.example.com, or none",
  parse: (text): Option.Option<string | undefined> => {
    if (text === "none") return Option.some(undefined)
    return URL.canParse(text) && new URL(text).origin === text ? Option.some(text) : Option.none()
  }
})

const otlpWait = timeout(
  "otlp-wait",
  "How long a call that OpenTelemetry tells waits for what may say more of it",
  defaultOtlpWaitMs / 1_000
)

const langfusePath = Setting.makeSwitch({
  name: "langfuse-path",
  description: "Take OpenTelemetry at /api/public/otel/v1/traces too, with the key as the password of Basic"
})

const viewer = unlessNot("viewer", ["on", "off"], "Whether the viewer is served, below /viewer/")

const strict = Setting.makeSwitch({
  name: "strict",
  description:
    "Refuse bodies with unknown fields, which otherwise are ignored, and named in the answer's Tachograph-Ignored"
})

export const flags = {
  storage: StorageSetting.setting.flag,
  host: host.flag,
  port: port.flag,
  workers: Workers.setting.flag,
  maxBody: maxBody.flag,
  maxOtherBody: maxOtherBody.flag,
  maxBatch: maxBatch.flag,
  maxBatchLines: maxBatchLines.flag,
  maxHeader: maxHeader.flag,
  maxConnections: maxConnections.flag,
  requestTimeout: requestTimeout.flag,
  answerTimeout: answerTimeout.flag,
  sessionMemory: sessionMemory.flag,
  retain: retain.flag,
  prices: FileSettings.prices.flag,
  redact: FileSettings.redact.flag,
  thread: thread.flag,
  cors: cors.flag,
  otlpWait: otlpWait.flag,
  langfusePath: langfusePath.flag,
  viewer: viewer.flag,
  strict: strict.flag,
  migrate: migrate.flag,
  ...BackupSettings.flags,
  ...ProxySettings.flags,
  ...SignInSettings.flags,
  logLevel: Logging.setting.flag
}

/** Resolves all options from the command line, the environment and the defaults. */
export const resolve = Effect.fnUntraced(function* (given: {
  readonly [name in keyof typeof flags]: (typeof flags)[name] extends Flag.Flag<infer A> ? A : never
}) {
  const choice = yield* StorageSetting.setting.resolve(given.storage)
  const listening = { host: yield* host.resolve(given.host), port: yield* port.resolve(given.port) }
  const isViewerOn = yield* viewer.resolve(given.viewer)
  return {
    choice,
    ...listening,
    workers: yield* Effect.tap(Workers.setting.resolve(given.workers), (count) => Workers.check(count, choice)),
    limits: {
      maxHeaderBytes: yield* maxHeader.resolve(given.maxHeader),
      maxConnections: yield* maxConnections.resolve(given.maxConnections),
      requestTimeoutMs: yield* requestTimeout.resolve(given.requestTimeout)
    },
    maxBodyBytes: yield* maxBody.resolve(given.maxBody),
    maxOtherBodyBytes: yield* maxOtherBody.resolve(given.maxOtherBody),
    maxBatchBytes: yield* maxBatch.resolve(given.maxBatch),
    maxBatchLines: yield* maxBatchLines.resolve(given.maxBatchLines),
    answerTimeoutMs: yield* answerTimeout.resolve(given.answerTimeout),
    sessionCacheBytes: yield* sessionMemory.resolve(given.sessionMemory),
    retain: yield* retain.resolve(given.retain),
    prices: yield* FileSettings.prices.resolve(given.prices),
    redact: yield* FileSettings.redact.resolve(given.redact),
    thread: yield* thread.resolve(given.thread),
    cors: yield* cors.resolve(given.cors),
    otlpWaitMs: yield* otlpWait.resolve(given.otlpWait),
    langfusePath: yield* langfusePath.resolve(given.langfusePath),
    viewer: isViewerOn,
    strict: yield* strict.resolve(given.strict),
    migrate: yield* migrate.resolve(given.migrate),
    backup: yield* BackupSettings.resolve(given, choice),
    proxy: yield* ProxySettings.resolve(given, listening),
    signIn: yield* SignInSettings.resolve(given, { ...listening, viewer: isViewerOn }),
    logLevel: yield* Logging.setting.resolve(given.logLevel)
  }
})
