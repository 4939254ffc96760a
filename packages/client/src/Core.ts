import { modelInUrl } from "@tachograph/capture"
import type { Kind } from "@tachograph/capture/Kinds"
import { isConverse } from "@tachograph/capture/Recognise"
import { isBilled, PathCounts } from "@tachograph/capture/Unrecognised"
import { rebuiltOf } from "@tachograph/capture/Wire"
import { OpenCalls } from "./aisdk/OpenCalls.ts"
import * as AiSdk from "./aisdk/Telemetry.ts"
import { serverOf } from "./api/Access.ts"
import { type Api as TachographApi, createApi, unavailable } from "./api/Api.ts"
import * as Context from "./context/Context.ts"
import { Budget } from "./delivery/Budget.ts"
import type { Counters } from "./delivery/Counters.ts"
import { Delivery } from "./delivery/Delivery.ts"
import * as EmbeddedTransport from "./delivery/EmbeddedTransport.ts"
import * as HttpTransport from "./delivery/HttpTransport.ts"
import * as Details from "./event/Details.ts"
import { envelopeOf } from "./event/Envelope.ts"
import { isObject, objectIn, type Payload } from "./event/Event.ts"
import * as Fingerprint from "./fingerprint/Fingerprint.ts"
import { Intake } from "./Intake.ts"
import { defaults, type RecorderOptions } from "./Options.ts"
import * as Callbacks from "./platform/Callbacks.ts"
import * as ProcessEnd from "./platform/ProcessEnd.ts"
import * as Timers from "./platform/Timers.ts"
import type { RecordedCall } from "./RecordedCall.ts"
import type { Call, CallListener, FinishedCall } from "./tap/Call.ts"
import * as Tap from "./tap/Tap.ts"
import * as UnknownNames from "./UnknownNames.ts"
import * as Warnings from "./Warnings.ts"
import type { NameOf } from "./Warnings.ts"

/** What all recorders share that are bound to parts of one application. */
export class Core {
  readonly budget: Budget
  readonly context = Context.make()
  readonly #open = new Set<Call>()
  readonly #openCalls: OpenCalls
  readonly delivery: Delivery
  readonly #options: RecorderOptions
  readonly #fetch: Tap.Fetch
  readonly intake: Intake
  readonly #unrecognised = new PathCounts()
  readonly #warn: Warnings.Warn
  readonly checkNames: UnknownNames.Check
  /** Whether code of the user has the recorder. */
  readonly #hasRecorder: boolean
  #fingerprint: Promise<string> | undefined
  #api: TachographApi | undefined

  /** `check` has found nothing wrong with the options, and nothing missing. `nameOf` is absent where the user has the recorder. */
  constructor(options: RecorderOptions, nameOf?: NameOf) {
    this.#hasRecorder = nameOf === undefined
    const warn = (this.#warn = Warnings.make(this.#hasRecorder))
    this.checkNames = UnknownNames.make(warn)
    this.#options = options
    // Taken now: a `fetch` that is put over it later may be a tap, which would call itself.
    this.#fetch = Tap.untapped(options.fetch ?? globalThis.fetch)
    const fingerprint = () => (this.#fingerprint ??= this.#findFingerprint())
    this.budget = new Budget(options.maxBytes ?? defaults.maxBytes)
    this.delivery = new Delivery({
      transport:
        options.tachograph === undefined
          ? HttpTransport.make({
              url: serverOf(options.url!),
              apiKey: options.apiKey!,
              keyName: nameOf?.("apiKey") ?? "apiKey",
              timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
              fetch: this.#fetch
            })
          : EmbeddedTransport.make(options.tachograph, options.project),
      fingerprint,
      apart: this.context.apart,
      maxEvents: options.maxEvents ?? defaults.maxEvents,
      concurrency: options.concurrency ?? defaults.concurrency,
      onDrop: options.onDrop ?? Warnings.ofDrops(warn),
      onPostpone: (cause) => {
        if (options.onDrop === undefined) warn("calls wait in the spool", cause)
      },
      onOutage: (cause) => warn("calls wait, because they cannot be sent", cause)
    })
    this.#openCalls = new OpenCalls({
      memory: this.budget,
      maxBytes: (options.maxBytes ?? defaults.maxBytes) / 4,
      lost: () => this.intake.lose({ reason: "memory" })
    })
    this.intake = new Intake({ options, budget: this.budget, delivery: this.delivery, fingerprint, warn })
  }

  get api(): TachographApi {
    return (this.#api ??= this.#makeApi())
  }

  #makeApi(): TachographApi {
    const { apiKey, url } = this.#options
    if (url === undefined) return unavailable("recorder.api: this recorder has no url; use tachograph.api")
    return createApi({ url, apiKey, fetch: this.#fetch })
  }

  tap(bound: Context.CallContext, fetch: Tap.Fetch = this.#fetch, isOn?: () => boolean): Tap.Fetch {
    return Tap.make({
      fetch,
      ...(isOn === undefined ? {} : { isOn }),
      budget: this.budget,
      open: this.#open,
      unreadMs: this.#options.unreadMs ?? defaults.unreadMs,
      begin: (kind) => this.#listen(this.contextOf(bound), kind),
      lost: (cause) => this.intake.lose({ reason: "unreadable", cause })
    })
  }

  /** The fields that `with` is given. An application may give none. */
  givenTo(given: Context.CallContext | null | undefined): Context.CallContext {
    const context = given ?? {}
    this.checkNames("with", context, Context.fields)
    return Details.checked(context, this.#warn)
  }

  /** What surrounds the caller counts more than what a recorder was bound to. */
  contextOf(bound: Context.CallContext): Context.CallContext {
    const { agent, agentVersion, person, session, waitUntil } = this.#options
    return Context.merge({ agent, agentVersion, person, session, waitUntil }, bound, this.context.current())
  }

  /** Asks the platform to wait for a call. Returns what ends the wait. */
  #hold(context: Context.CallContext): () => void {
    if (context.waitUntil === undefined) return ignore
    let settle = () => {}
    const settled = new Promise<void>((resolve) => (settle = resolve))
    Callbacks.run(
      () => context.waitUntil?.(settled),
      // Often it was given without its object, `ctx.waitUntil` for `ctx.waitUntil.bind(ctx)`.
      (cause) => this.#warn("waitUntil throws, so that the platform does not wait for calls", cause, "")
    )
    return settle
  }

  #listen(context: Context.CallContext, kind: Kind): CallListener {
    const settle = this.#hold(context)
    return {
      finished: (call) => {
        try {
          const envelope = envelopeOfTap(call)
          const payload = () => (kind === "end" ? this.#endOf(call, context) : this.#payloadOf(call))
          this.intake.add({ payload, envelope, context, release: call.release, settle })
        } catch (cause) {
          // Such as a clock that a test of the application has replaced. The stream that ends the call must end.
          this.intake.lose({ reason: "unreadable", cause })
          call.release()
          settle()
        }
      },
      dropped: (reason) => {
        // Any other may be no call.
        if (kind === "call") this.intake.lose({ reason })
        settle()
      }
    }
  }

  record(given: RecordedCall, bound: Context.CallContext) {
    if (!isObject(given) || typeof given.api !== "string") {
      throw new TypeError("record: expected an object with api, inputs and output")
    }
    this.checkNames("record", given, callFields)
    this.recordIn(Context.merge(this.contextOf(bound), Details.checked(given, this.#warn)), given)
  }

  recordIn(
    context: Context.CallContext,
    {
      api,
      durationMs,
      firstTokenMs,
      httpStatus,
      inputs,
      model,
      occurredAt,
      output,
      secrets = []
    }: Omit<RecordedCall, keyof Context.CallContext> & { readonly secrets?: ReadonlyArray<string> }
  ) {
    // Throws where the time is none, before the platform is asked to wait.
    const envelope = { ...envelopeOf(occurredAt ?? new Date(), durationMs, firstTokenMs, httpStatus), model }
    const settle = this.#hold(context)
    // Written at once: the application may change the values afterwards.
    let payload: Omit<Payload, "api">
    try {
      payload = { inputs: writtenOf("inputs", inputs), output: writtenOf("output", output) }
    } catch (cause) {
      this.intake.lose({ reason: "unreadable", cause })
      return settle()
    }
    const found = { ...payload, apiOf: () => api, secrets }
    const bytes = payload.inputs.length + payload.output.length
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
    return {
      ...this.delivery.counters(),
      postponed: this.intake.postponed,
      underWay: this.#open.size + this.#openCalls.size,
      making: this.intake.making,
      onDisk: this.intake.onDisk,
      heldBytes: this.budget.held,
      unrecognised: this.#unrecognised.all()
    }
  }

  aiSdk(bound: Context.CallContext): AiSdk.AiSdkTelemetry {
    return AiSdk.make({
      openCalls: this.#openCalls,
      unreadMs: this.#options.unreadMs ?? defaults.unreadMs,
      context: () => this.contextOf(bound),
      record: (call, context) => this.recordIn(context, { api: "aisdk", ...call }),
      lost: (cause) => this.intake.lose({ reason: "unreadable", cause })
    })
  }

  async #payloadOf({ output, request }: FinishedCall) {
    const inputs = await request.text()
    if (inputs === undefined) return undefined
    const said = await output(inputs)
    const apiOf = (parsed: Record<string, unknown>) => {
      const api = request.apiOf(parsed, said)
      if (api === null) this.#countUnrecognised(request.url, inputs, said)
      return api
    }
    if (request.kind === "unknown") {
      const parsed = objectIn(inputs)
      if (parsed === undefined || apiOf(parsed) === null) return "none" as const
    }
    const rebuilt = isConverse(request.url) ? this.#rebuilt(request, inputs, said) : undefined
    return { apiOf, secrets: request.secrets(inputs), said: request.said(), inputs, output: said, ...rebuilt }
  }

  /** What is recorded of a call in a format of Bedrock's own. A stream is accumulated in the format that is recorded. */
  #rebuilt({ apiOf, url }: FinishedCall["request"], inputs: string, output: string) {
    const api = apiOf(objectIn(inputs))
    const rebuilt = api === null ? undefined : rebuiltOf(api, url)
    if (rebuilt === undefined) return undefined
    return { inputs: rebuilt.inputs(inputs), output: rebuilt.output(output), recorded: { rebuilt: true } }
  }

  /** Counts a call that no format has, and names its path once. A stream in none of them stands as text within its output. */
  #countUnrecognised(url: URL, inputs: string, output: string): void {
    const { error } = (objectIn(output) ?? {}) as { readonly error?: { readonly body?: unknown } | null }
    if (!isBilled(url, inputs, typeof error?.body === "string" ? error.body : output)) return
    const { isFirst, path } = this.#unrecognised.add(url)
    if (isFirst) this.#warn(`calls of ${path} are in no format that is recorded, and are only counted`, undefined, "")
  }

  /** The end of a call whose answer has come by this one. */
  async #endOf({ durationMs, httpStatus, occurredAt, output, request }: FinishedCall, context: Context.CallContext) {
    const asked = request.asked!
    const said = await output("{}")
    const end = this.intake.later.endOf(asked, httpStatus ?? 0, said, occurredAt.getTime() + durationMs)
    if (end === undefined) return "none" as const
    const { envelope, inputs, names } = end
    return {
      apiOf: () => asked.api,
      secrets: request.secrets(inputs),
      said: request.said(),
      inputs,
      output: said,
      recorded: { retrieved: true },
      // Those of the call count more than those of this one.
      instead: { asked, envelope, context: { ...context, ...names } }
    }
  }

  async #findFingerprint(): Promise<string> {
    const { fingerprint, packages = "direct" } = this.#options
    return JSON.stringify({ ...(await Fingerprint.find(packages)), ...fingerprint })
  }

  readonly flush = async (timeoutMs: number, { isAtEnd = false, isHeld = true } = {}): Promise<boolean> => {
    const relax = this.delivery.hurry()
    const isSettled = await new Promise<boolean>((resolve) => {
      let forget = () => {}
      const stop = (isHeld ? Timers.holding : Timers.after)(timeoutMs, () => {
        forget()
        // An attempt that is not answered would keep the process for longer.
        if (isAtEnd) this.delivery.stopAttempts()
        resolve(!this.intake.isBusy)
      })
      forget = this.intake.whenSettled(() => {
        stop()
        resolve(true)
      }, isAtEnd)
    })
    relax()
    return isSettled && this.intake.postponed === 0
  }

  /** The core keeps what is registered from being collected. */
  #atEnd: ProcessEnd.Flushable | undefined

  flushAtEnd(timeoutMs: number): void {
    this.#atEnd = {
      isBusy: () => this.intake.isBusy && !this.intake.isLeftOnDisk,
      endCalls: () => {
        for (const call of this.#open) call.end("exit")
        for (const started of this.#openCalls.takeOpen()) {
          // JSON cannot write all that an application gives to the AI SDK.
          try {
            this.recordIn(started.context, { api: "aisdk", ...AiSdk.unfinished(started) })
          } catch (cause) {
            this.intake.lose({ reason: "unreadable", cause })
          }
        }
      },
      flush: (isHeld) => this.flush(timeoutMs, { isAtEnd: true, isHeld }),
      exit: () => {
        for (const call of this.#open) call.abandon("exit")
        for (let open = this.#openCalls.size; open > 0; open--) this.delivery.drop({ reason: "exit" })
        this.intake.exit()
        // The user has no counters.
        if (!this.#hasRecorder) Warnings.sayLost(this.#warn, this.counters().dropped)
      }
    }
    ProcessEnd.flushAtEnd(this.#atEnd, timeoutMs > 0)
  }
}

const ignore = () => {}

const callFields: ReadonlySet<string> = new Set([
  ...["api", "model", "inputs", "output", "occurredAt", "durationMs", "firstTokenMs", "httpStatus"],
  ...Context.fields
])

/** The JSON text of an object. Throws where a value has none. */
const writtenOf = (name: string, value: unknown): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  // A text of inputs is read when the event is made.
  const isWritten =
    typeof value === "string" && name === "output" ? objectIn(value) !== undefined : /^\s*\{/.test(text ?? "")
  if (text === undefined || !isWritten) throw new TypeError(`${name}: expected an object, or the JSON text of one`)
  return text
}

const envelopeOfTap = ({ durationMs, firstTokenMs, httpStatus, occurredAt, request }: FinishedCall) => ({
  ...envelopeOf(occurredAt, durationMs, firstTokenMs, httpStatus),
  model: modelInUrl(request.url) ?? undefined
})
