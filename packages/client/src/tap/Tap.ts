/** A `fetch` that records calls to model providers and leaves everything as it would be without it. */
import { type Kind, mayBeAnswer } from "@tachograph/capture/Kinds"
import { isStream, saysFormat } from "@tachograph/capture/Recognise"
import { accumulatorOf, isFramed } from "@tachograph/capture/Wire"
import type { WireApi } from "@tachograph/formats"
import type { Budget } from "../delivery/Budget.ts"
import { objectIn } from "../event/Event.ts"
import { interruptionOf } from "../event/Interruption.ts"
import { isRequest } from "../platform/Web.ts"
import { Call, type CallListener, type Keeper, streamKeeper, textKeeper } from "./Call.ts"
import * as CapturedRequest from "./CapturedRequest.ts"
import * as NestedTaps from "./NestedTaps.ts"
import * as ReadOnce from "./ReadOnce.ts"
import * as TappedResponse from "./TappedResponse.ts"

export type Fetch = typeof globalThis.fetch

export interface TapOptions {
  /** The `fetch` below the tap. */
  readonly fetch: Fetch
  readonly budget: Budget
  /** The calls that are under way. */
  readonly open: Set<Call>
  /** An answer that is not read on for this time is recorded as far as it came. */
  readonly unreadMs: number
  /** Whether calls are recorded. */
  readonly isOn?: () => boolean
  /** Called when a recognised call begins, or what may be one. */
  readonly begin: (kind: Kind) => CallListener
  /** Called when a call by a recognised address cannot be observed. */
  readonly lost: (cause: unknown) => void
}

/** Marks a tap with the `fetch` below it. */
const below = Symbol.for("tachograph.tap")

/** Marks a tap that was taken off with what it was put over. */
const off = Symbol.for("tachograph.off")

interface Tapped extends Fetch {
  readonly [below]?: Fetch
  readonly [off]?: Fetch
}

/** The `fetch` below all taps. */
export const untapped = (fetch: Fetch): Fetch => {
  const inner = (fetch as Tapped)[below]
  return inner === undefined ? fetch : untapped(inner)
}

/** Takes a tap off the global `fetch` that was put over `before`, and those below it that were taken off before. */
export const takeOff = (tap: Fetch, before: Fetch): void => {
  // Not copied by what copies the properties of a `fetch`.
  Object.defineProperty(tap, off, { value: before, configurable: true })
  for (let next: Fetch | undefined; (next = (globalThis.fetch as Tapped)[off]) !== undefined;) globalThis.fetch = next
}

const nestedTaps = NestedTaps.shared()

const keeperFor = ({ apiOf, asked, url }: CapturedRequest.CapturedRequest, response: Response): Keeper => {
  const type = response.headers.get("content-type") ?? ""
  if (!response.ok) return textKeeper()
  const of = (api: WireApi | null) => (api === null ? undefined : () => accumulatorOf(api, url, type))
  const accumulator = of(asked?.api ?? (saysFormat(url) ? apiOf() : null))
  const find = (inputs: string, stream: string) => of(apiOf(objectIn(inputs), stream))
  if (accumulator === undefined) return textKeeper(find, isFramed(type))
  return isStream(url, type) ? streamKeeper(accumulator()) : textKeeper(() => accumulator)
}

/** With the name and the properties of a `fetch`, such as `preconnect` of Bun and the marks of frameworks. */
const likeness = (tap: Fetch, fetch: Fetch): Fetch => {
  for (const key of Reflect.ownKeys(fetch)) {
    if (key === below || key === off || key === "prototype") continue
    try {
      Object.defineProperty(tap, key, Object.getOwnPropertyDescriptor(fetch, key)!)
    } catch {}
  }
  return tap
}

/** A `fetch` that can be called as a method: browsers refuse theirs there. */
export const apart = (fetch: Fetch): Fetch => likeness(fetch.bind(globalThis), fetch)

const keep = (request: CapturedRequest.CapturedRequest, call: Call): void => {
  try {
    request.keep(call.take)
  } catch {
    call.abandon("unreadable")
  }
}

export const make = ({ begin, budget, fetch, isOn = () => true, lost, open, unreadMs }: TapOptions): Fetch => {
  /** Undefined where it is no model call, null where it is one that is lost. It is counted unless `isCounted`. */
  const start = (args: Parameters<Fetch>, isCounted: boolean) => {
    const [input, init, ...rest] = args
    const target = CapturedRequest.targetOf(input, init)
    const captured = target && CapturedRequest.capture(target.method, input, init, target.url)
    if (captured === undefined) return undefined
    const { init: sentInit, request } = captured
    if (isCounted && !budget.hasRoomFor(request.bytes)) {
      request.leave()
      return null
    }
    const listener = begin(request.kind)
    if (!budget.take(request.bytes)) {
      request.leave()
      listener.dropped("memory")
      return null
    }
    const signal = init?.signal ?? (isRequest(input) ? input.signal : undefined)
    const sent = sentInit === init ? args : ([input, sentInit, ...rest] as unknown as Parameters<Fetch>)
    return { call: new Call(request, budget, listener, open), request, sent, signal }
  }
  const tap = (...given: Parameters<Fetch>): ReturnType<Fetch> => {
    const passage = nestedTaps.current()
    // A call never comes back to the `fetch` that it is made by: this is another one, such as one that a body makes as it is read.
    const above = passage?.below === fetch ? undefined : passage
    if (!isOn() || above?.isRecorded === true) return fetch(...given)
    const [input, init, ...rest] = given
    const once = ReadOnce.make(init)
    const args = once === init ? given : ([input, once, ...rest] as unknown as Parameters<Fetch>)
    let started: ReturnType<typeof start>
    try {
      started = start(args, above !== undefined)
    } catch (cause) {
      if (above === undefined) lost(CapturedRequest.causeOf(cause))
      started = null
    }
    if (started === undefined) return fetch(...args)
    const mark = { below: fetch, isRecorded: started !== null }
    // Taps below may record it, if they can, but do not count it again.
    if (started === null) return nestedTaps.run(mark, () => fetch(...args))
    const { call: observer, request, sent, signal } = started
    let answer: ReturnType<Fetch>
    try {
      answer = nestedTaps.run(mark, () => fetch(...sent))
    } catch (error) {
      observer.end("connection_error", error)
      throw error
    } finally {
      // The request is on its way.
      keep(request, observer)
    }
    // Some answer at once.
    return Promise.resolve(answer).then(
      (response) => {
        try {
          const isAnswer = request.kind === "call" || mayBeAnswer(response.status, response.headers.get("content-type"))
          if (!TappedResponse.canTap(response) || !isAnswer) {
            observer.abandon("unreadable")
            return response
          }
          observer.answered(response.status, keeperFor(request, response), unreadMs)
          return TappedResponse.tapped(response, observer, signal)
        } catch {
          observer.abandon("unreadable")
          return response
        }
      },
      (error: unknown) => {
        observer.end(interruptionOf(error, signal?.aborted === true), error)
        throw error
      }
    )
  }
  return Object.defineProperty(likeness(tap, fetch), below, { value: fetch })
}
