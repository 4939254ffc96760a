/// <reference lib="esnext.disposable" preserve="true" />
/** Records calls to model providers, in the background. */
import { type Api, modelInUrl } from "@tachograph/formats"
import { Starts } from "./aisdk/Starts.ts"
import * as AiSdk from "./aisdk/Telemetry.ts"
import { type Api as TachographApi, createApi } from "./api/Api.ts"
import * as Context from "./context/Context.ts"
import { Budget } from "./delivery/Budget.ts"
import type { Counters } from "./delivery/Counters.ts"
import { Delivery } from "./delivery/Delivery.ts"
import * as EmbeddedTransport from "./delivery/EmbeddedTransport.ts"
import * as HttpTransport from "./delivery/HttpTransport.ts"
import type { Envelope, Payload } from "./event/Event.ts"
import { withoutSecrets } from "./event/Secrets.ts"
import * as Fingerprint from "./fingerprint/Fingerprint.ts"
import { Intake } from "./Intake.ts"
import { check, defaults, type RecorderOptions } from "./Options.ts"
import * as Callbacks from "./platform/Callbacks.ts"
import * as ProcessEnd from "./platform/ProcessEnd.ts"
import * as Timers from "./platform/Timers.ts"
import type { Call, CallListener, FinishedCall } from "./tap/Call.ts"
import * as Tap from "./tap/Tap.ts"
import * as Warnings from "./Warnings.ts"

/** A call that an application records itself. */
export interface RecordedCall extends Context.CallContext {
  readonly api: Api
  /** The request to the model: a value, or a JSON text that is kept as it is. */
  readonly inputs: object | string
  /** The answer of the model: a value, or a JSON text that is kept as it is. */
  readonly output: object | string
  readonly occurredAt?: Date | undefined
  readonly durationMs?: number | undefined
  readonly firstTokenMs?: number | undefined
  /** Of the provider's answer. */
  readonly httpStatus?: number | undefined
}

/** `await using` flushes at the end of a block. `using` waits for nothing: what is left is sent in the background. */
export interface Recorder extends AsyncDisposable, Disposable {
  /** A `fetch` that records calls to model providers and leaves everything else alone. */
  readonly fetch: typeof globalThis.fetch
  /** Records all calls of the global `fetch`. Returns what takes it off again. */
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
  /** Records a call that no tap saw. Never throws. */
  readonly record: (call: RecordedCall) => void
  /**
   * Waits until every call that is over is sent or dropped, for at most `timeoutMs` (30 s by default). Returns whether
   * nothing waits any more. It does not wait for calls that are under way, which the counters tell.
   */
  readonly flush: (options?: { readonly timeoutMs?: number }) => Promise<boolean>
  /**
   * Waits until every call that is over is on disk, so that it survives the process, or sent. Rejects where one is not, as when
   * the disk is full, and where there is no spool.
   */
  readonly spooled: () => Promise<void>
  readonly counters: () => Counters
  /**
   * Calls every operation of the interface with the recorder's `url` and `apiKey`. Throws a `TypeError` where the recorder has a
   * `tachograph` instead: that has `tachograph.recorder`.
   */
  readonly api: TachographApi
}

/** What all recorders share that are bound to parts of one application. */
class Core {
  readonly budget: Budget
  readonly context = Context.make()
  readonly #open = new Set<Call>()
  readonly #starts: Starts
  readonly delivery: Delivery
  readonly #options: RecorderOptions
  readonly #fetch: Tap.Fetch
  readonly intake: Intake
  #fingerprint: Promise<string> | undefined
  #api: TachographApi | undefined

  constructor(options: RecorderOptions) {
    check(options)
    this.#options = options
    // The one of now: one that is put over it later may be a tap, which would call itself.
    this.#fetch = Tap.untapped(options.fetch ?? globalThis.fetch)
    const fingerprint = () => (this.#fingerprint ??= this.#findFingerprint())
    this.budget = new Budget(options.maxBytes ?? defaults.maxBytes)
    this.delivery = new Delivery({
      transport:
        options.tachograph === undefined
          ? HttpTransport.make({
              url: options.url,
              apiKey: options.apiKey,
              timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
              fetch: this.#fetch
            })
          : EmbeddedTransport.make(options.tachograph, options.project),
      fingerprint,
      apart: this.context.apart,
      maxEvents: options.maxEvents ?? defaults.maxEvents,
      concurrency: options.concurrency ?? defaults.concurrency,
      onDrop: options.onDrop ?? Warnings.ofDrops(),
      onPostpone: options.onDrop === undefined ? Warnings.that("calls wait in the spool") : () => {},
      onOutage: Warnings.that("calls wait, because they cannot be sent")
    })
    this.#starts = new Starts({
      memory: this.budget,
      maxBytes: (options.maxBytes ?? defaults.maxBytes) / 4,
      lost: () => this.delivery.drop({ reason: "memory" })
    })
    this.intake = new Intake({ options, budget: this.budget, delivery: this.delivery, fingerprint })
  }

  get api(): TachographApi {
    const { apiKey, url } = this.#options
    if (url === undefined) throw new TypeError("recorder.api: this recorder has no url; use tachograph.recorder")
    return (this.#api ??= createApi({ url, apiKey, fetch: this.#fetch }))
  }

  tap(bound: Context.CallContext, fetch: Tap.Fetch = this.#fetch, isOn?: () => boolean): Tap.Fetch {
    return Tap.make({
      fetch,
      ...(isOn === undefined ? {} : { isOn }),
      budget: this.budget,
      open: this.#open,
      unreadMs: this.#options.unreadMs ?? defaults.unreadMs,
      begin: () => this.#listen(this.contextOf(bound)),
      lost: (cause) => this.delivery.drop({ reason: "unreadable", cause })
    })
  }

  /** What surrounds the caller counts more than what a recorder was bound to. */
  contextOf(bound: Context.CallContext): Context.CallContext {
    const { agent, agentVersion, person, session, waitUntil } = this.#options
    return Context.merge({ agent, agentVersion, person, session, waitUntil }, bound, this.context.current())
  }

  #listen(context: Context.CallContext): CallListener {
    let settle = () => {}
    const settled = new Promise<void>((resolve) => (settle = resolve))
    Callbacks.run(() => context.waitUntil?.(settled))
    return {
      finished: (call) =>
        this.intake.add({
          payload: () => this.#payloadOf(call),
          envelope: envelopeOfTap(call),
          context,
          release: call.release,
          settle
        }),
      dropped: (reason) => {
        this.delivery.drop({ reason })
        settle()
      }
    }
  }

  record({ agent, agentVersion, person, session, waitUntil, ...call }: RecordedCall, bound: Context.CallContext) {
    this.recordIn(Context.merge(this.contextOf(bound), { agent, agentVersion, person, session, waitUntil }), call)
  }

  recordIn(
    context: Context.CallContext,
    {
      api,
      durationMs,
      firstTokenMs,
      httpStatus,
      inputs,
      occurredAt,
      output
    }: Omit<RecordedCall, keyof Context.CallContext>
  ) {
    // Throws at a wrong time, before the platform is told to wait.
    const envelope = envelopeOf(occurredAt ?? new Date(), durationMs, firstTokenMs, httpStatus)
    const text = (value: object | string) => (typeof value === "string" ? value : JSON.stringify(value))
    let settle = () => {}
    const settled = new Promise<void>((resolve) => (settle = resolve))
    Callbacks.run(() => context.waitUntil?.(settled))
    // Written at once: the application may change the values afterwards.
    let payload: Omit<Payload, "api"> | undefined
    try {
      payload = { inputs: text(inputs), output: text(output) }
    } catch {}
    const found = payload && { ...payload, apiOf: () => api }
    const bytes = payload === undefined ? 0 : payload.inputs.length + payload.output.length
    if (!this.budget.take(bytes)) {
      this.intake.lose({ reason: "memory" })
      return settle()
    }
    this.intake.add({
      payload: async () => found,
      envelope,
      context,
      release: () => this.budget.release(bytes),
      settle
    })
  }

  counters(): Counters {
    return { ...this.delivery.counters(), underWay: this.#open.size + this.#starts.size, heldBytes: this.budget.held }
  }

  aiSdk(bound: Context.CallContext): AiSdk.AiSdkTelemetry {
    return AiSdk.make({
      starts: this.#starts,
      context: () => this.contextOf(bound),
      record: (call, context) => this.recordIn(context, { api: "aisdk", ...call })
    })
  }

  async #payloadOf({ output, request }: FinishedCall) {
    const inputs = await request.text()
    if (inputs === undefined) return undefined
    const secrets = request.secrets(inputs)
    return {
      apiOf: request.apiOf,
      inputs: withoutSecrets(inputs, secrets),
      output: withoutSecrets(output(), secrets)
    }
  }

  async #findFingerprint(): Promise<string> {
    const { fingerprint, packages = "direct" } = this.#options
    return JSON.stringify({ ...(await Fingerprint.find(packages)), ...fingerprint })
  }

  readonly flush = async (timeoutMs: number): Promise<boolean> => {
    const relax = this.delivery.hurry()
    await new Promise<void>((resolve) => {
      let forget = () => {}
      const timer = setTimeout(() => {
        forget()
        resolve()
      }, Timers.bounded(timeoutMs))
      forget = this.intake.whenSettled(() => {
        clearTimeout(timer)
        resolve()
      })
    })
    relax()
    return !this.intake.isBusy && !this.intake.hasPostponed
  }

  /** The core keeps what is registered from being collected. */
  #atEnd: ProcessEnd.Flushable | undefined

  flushAtEnd(timeoutMs: number): void {
    this.#atEnd = {
      isBusy: () => this.intake.isBusy,
      endCalls: () => {
        for (const call of this.#open) call.end("exit")
        for (const started of this.#starts.takeOpen()) {
          this.recordIn(started.context, { api: "aisdk", ...AiSdk.unfinished(started) })
        }
      },
      flush: () => this.flush(timeoutMs),
      exit: () => {
        for (const call of this.#open) call.abandon("exit")
        for (let open = this.#starts.size; open > 0; open--) this.delivery.drop({ reason: "exit" })
        this.intake.exit()
      }
    }
    ProcessEnd.flushAtEnd(this.#atEnd)
  }
}

const rounded = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : Math.round(ms * 10) / 10

const envelopeOf = (
  occurredAt: Date,
  durationMs: number | undefined,
  firstTokenMs: number | undefined,
  httpStatus: number | undefined
): Partial<Envelope> => ({
  occurred_at: occurredAt.toISOString(),
  duration_ms: rounded(durationMs),
  first_token_ms: rounded(firstTokenMs),
  http_status: httpStatus
})

const envelopeOfTap = ({ durationMs, firstTokenMs, httpStatus, occurredAt, request }: FinishedCall) => ({
  ...envelopeOf(occurredAt, durationMs, firstTokenMs, httpStatus),
  model: modelInUrl(request.url) ?? undefined
})

const bind = (core: Core, bound: Context.CallContext): Recorder => {
  const recorder: Recorder = {
    fetch: core.tap(bound),
    install: () => {
      const before = globalThis.fetch
      let isInstalled = true
      const installed = core.tap(bound, before, () => isInstalled)
      globalThis.fetch = installed
      return () => {
        // A wrapper that was put over it since then keeps calling it.
        isInstalled = false
        if (globalThis.fetch === installed) globalThis.fetch = before
      }
    },
    with: (context, run) =>
      core.context.run(context, () => run(bind(core, Context.merge(bound, core.context.current(), context)))),
    aiSdk: core.aiSdk(bound),
    record: (call) => {
      try {
        core.record(call, bound)
      } catch (cause) {
        core.delivery.drop({ reason: "unreadable", cause })
      }
    },
    flush: ({ timeoutMs = 30_000 } = {}) => core.flush(timeoutMs),
    spooled: () => core.intake.spooled(),
    counters: () => core.counters(),
    get api() {
      return core.api
    },
    // Sending goes on by itself, and the end of the process waits for it.
    [Symbol.dispose]: () => {},
    [Symbol.asyncDispose]: async () => {
      await core.flush(30_000)
    }
  }
  return recorder
}

/** Throws a `TypeError` if an option is wrong. What fails later is counted, and never thrown. */
export const createRecorder = (options: RecorderOptions): Recorder => {
  const core = new Core(options)
  const exitMs = options.exitMs ?? defaults.exitMs
  if (exitMs > 0) core.flushAtEnd(exitMs)
  return bind(core, {})
}
