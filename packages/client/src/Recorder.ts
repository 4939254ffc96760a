/// <reference lib="esnext.disposable" preserve="true" />
/** Records calls to model providers, in the background. */
import * as AiSdk from "./aisdk/Telemetry.ts"
import { type Api as TachographApi, unavailable } from "./api/Api.ts"
import * as Context from "./context/Context.ts"
import { Core } from "./Core.ts"
import type { Counters } from "./delivery/Counters.ts"
import { check, defaults, type RecorderOptions } from "./Options.ts"
import type { RecordedCall } from "./RecordedCall.ts"
import * as Tap from "./tap/Tap.ts"
import * as Warnings from "./Warnings.ts"

/** `await using` flushes at the end of a block. `using` waits for nothing: what is left is sent in the background. */
export interface Recorder extends AsyncDisposable, Disposable {
  /** A `fetch` that records calls to model providers and leaves everything else alone. */
  readonly fetch: typeof globalThis.fetch
  /**
   * Puts the tap over the global `fetch`, so that all its calls are recorded. What took the global `fetch` before is not reached: clients
   * of OpenAI and Anthropic take it when they are made. Returns what takes the tap off again. What wraps the global `fetch` later keeps
   * calling the tap, which then only passes calls on.
   */
  readonly install: () => () => void
  /**
   * Runs a function whose calls have these fields. It gets a recorder that is bound to them, for platforms without
   * AsyncLocalStorage. Can be nested: what is not given is taken from outside.
   */
  readonly with: <A>(context: Context.CallContext, run: (recorder: Recorder) => A) => A
  /**
   * Records calls of Vercel's AI SDK as it sees them, where no tap does: `registerTelemetry(recorder.aiSdk)`. Version 6 calls it
   * `registerTelemetryIntegration`.
   */
  readonly aiSdk: AiSdk.AiSdkTelemetry
  /** Records a call that no tap saw. Never throws: a call that cannot be recorded is counted. */
  readonly record: (call: RecordedCall) => void
  /**
   * Waits until every call that is over is sent or dropped, for at most `timeoutMs` ms (30,000 by default). Resolves with whether
   * none of them waits any more, in memory or on disk. Never rejects. It does not wait for calls that are under way: how many these
   * are, the counters say; nor for those that end while it waits.
   */
  readonly flush: (options?: { readonly timeoutMs?: number }) => Promise<boolean>
  /**
   * Waits until every call that is over is on disk, so that it survives the process, or sent. Rejects where one is not, as when
   * the disk is full, and where there is no spool.
   */
  readonly spooled: () => Promise<void>
  readonly counters: () => Counters
  /**
   * Calls every operation of the interface with the recorder's `url` and `apiKey`. Every call rejects with a `TypeError` where the
   * recorder is off, or has a `tachograph` instead: that has `tachograph.api`.
   */
  readonly api: TachographApi
}

const flushFields = new Set(["timeoutMs"])

const bind = (core: Core, bound: Context.CallContext): Recorder => {
  let fetch: typeof globalThis.fetch | undefined
  let aiSdk: AiSdk.AiSdkTelemetry | undefined
  const recorder: Recorder = {
    // Made when it is asked for: `with` binds a recorder for each call, which few use.
    get fetch() {
      return (fetch ??= core.tap(bound))
    },
    install: () => {
      const before = globalThis.fetch
      let isInstalled = true
      const installed = core.tap(bound, before, () => isInstalled)
      globalThis.fetch = installed
      return () => {
        // A wrapper that was put over it since then keeps calling it.
        isInstalled = false
        Tap.takeOff(installed, before)
      }
    },
    with: (given, run) => {
      const context = core.givenTo(given)
      return core.context.run(context, () => run(bind(core, Context.merge(bound, core.context.current(), context))))
    },
    get aiSdk() {
      return (aiSdk ??= core.aiSdk(bound))
    },
    record: (call) => {
      try {
        core.record(call, bound)
      } catch (cause) {
        core.intake.lose({ reason: "unreadable", cause })
      }
    },
    flush: (options = {}) => {
      core.checkNames("flush", options, flushFields)
      return core.flush(options.timeoutMs ?? 30_000)
    },
    spooled: () => core.intake.spooled(),
    counters: () => core.counters(),
    get api() {
      return core.api
    },
    // Sending goes on by itself, and the end of the process waits for it.
    [Symbol.dispose]: () => {},
    [Symbol.asyncDispose]: async () => {
      await recorder.flush()
    }
  }
  return recorder
}

const ignore = () => {}

/** A recorder that leaves every call alone, as where the environment names no server. */
const off = (fetch: typeof globalThis.fetch): Recorder => {
  const recorder: Recorder = {
    fetch: Tap.apart(fetch),
    install: () => ignore,
    with: (_context, run) => run(recorder),
    aiSdk: AiSdk.off,
    record: ignore,
    flush: async () => true,
    spooled: async () => {},
    counters: () => ({
      recorded: 0,
      sent: 0,
      retried: 0,
      waiting: 0,
      postponed: 0,
      underWay: 0,
      making: 0,
      onDisk: 0,
      heldBytes: 0,
      dropped: {},
      unrecognised: {}
    }),
    api: unavailable("recorder.api: this recorder is off"),
    [Symbol.dispose]: ignore,
    [Symbol.asyncDispose]: async () => {}
  }
  return recorder
}

/** As `createRecorder`. `nameOf` is what options are called where there is no code. */
export const start = (options: RecorderOptions, nameOf?: Warnings.NameOf): Recorder => {
  const missing = check(options)
  if (missing.length > 0) {
    const names = missing.map((name) => nameOf?.(name) ?? name)
    Warnings.make(false)(
      `nothing is recorded, because ${names.join(" and ")} ${names.length > 1 ? "are" : "is"} missing`
    )
    return off(options.fetch ?? globalThis.fetch)
  }
  const core = new Core(options, nameOf)
  core.flushAtEnd(options.exitMs ?? defaults.exitMs)
  return bind(core, {})
}

/**
 * Throws a `TypeError` if an option is wrong. What fails later is counted, and never thrown. Without `url` or `apiKey` the recorder is
 * off: it prints that, records nothing, and leaves every call alone.
 */
export const createRecorder = (options: RecorderOptions): Recorder => start(options)
