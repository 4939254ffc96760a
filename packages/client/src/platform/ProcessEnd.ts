/** Waits for events when a process ends, without taking the end away from the application. */
import { processOf } from "./Builtins.ts"

/** Something that has work left. */
export interface Flushable {
  readonly isBusy: () => boolean
  /** Ends calls that are under way, as far as they came: the process will not go on with them. */
  readonly endCalls: () => void
  /** For a bounded time, for which the process is kept alive if it `isHeld`. Returns whether nothing is left. */
  readonly flush: (isHeld: boolean) => Promise<boolean>
  /** Says what is lost. Called when nothing can be done any more. */
  readonly exit: () => void
}

const signals = ["SIGTERM", "SIGINT"] as const

type Signal = (typeof signals)[number]

type Recorders = Set<WeakRef<Flushable>>

/**
 * Where the recorders of a process are, of all copies of this module: there is one listener for them, so that no copy takes the
 * listener of another one for the application's. They are held weakly: a recorder that is forgotten can be collected.
 */
const flushed = Symbol.for("tachograph.process-end")

/** Those that say what is lost, whether they are flushed or not. */
const told = Symbol.for("tachograph.process-exit")

interface Host extends NodeJS.Process {
  [flushed]?: Recorders
  [told]?: Recorders
  /** The emitter of signal-exit 3. */
  readonly __signal_exit_emitter__?: { readonly count?: unknown }
}

const emitterOfSignalExit = Symbol.for("signal-exit emitter")

/**
 * How many listeners the library signal-exit has for each signal, in all its copies. They end the process only if there are no
 * others, so that with a listener of a recorder nothing would.
 */
const listenersOfSignalExit = (process: Host): number => {
  const emitters: ReadonlyArray<unknown> = [
    (globalThis as Record<symbol, unknown>)[emitterOfSignalExit],
    process.__signal_exit_emitter__
  ]
  const counts = emitters.map((emitter) => (emitter as { readonly count?: unknown } | undefined)?.count)
  return counts.reduce<number>((sum, count) => sum + (typeof count === "number" ? count : 0), 0)
}

/** Numbers of the signals, for the status that a shell gives to a process which one of them ended. */
const numbers: Readonly<Record<Signal, number>> = { SIGTERM: 15, SIGINT: 2 }

type Known = () => ReadonlyArray<Flushable>

/** Once. */
const tell = (process: Host) => {
  for (const reference of process[told] ?? []) reference.deref()?.exit()
  process[told]?.clear()
}

const listenToExit = (process: Host) => {
  process.on("exit", () => tell(process))
}

/** A terminal sends its signal to all processes of a group, and npm passes on its own: within this time they are one (ms). */
const sameSignalMs = 1_000

const listen = (process: Host, all: Known) => {
  const flushBusy = (isHeld: boolean) =>
    Promise.all(all().flatMap((recorder) => (recorder.isBusy() ? [recorder.flush(isHeld)] : [])))
  const endCalls = () => {
    for (const recorder of all()) recorder.endCalls()
  }
  // `beforeExit` comes again after the work that it causes. A flush that did not come to its end is not repeated: it would keep
  // the process for ever.
  let isInVain = false
  process.on("beforeExit", () => {
    if (isInVain) return
    // Nothing will read them on.
    endCalls()
    if (!all().some((recorder) => recorder.isBusy())) return
    isInVain = true
    void flushBusy(true).then((flushed) => {
      isInVain = !flushed.every(Boolean)
    })
  })
  // Those that a signal took off are called by it, and are no listeners any more.
  const left = new Set<unknown>()
  process.on("removeListener", (event: unknown) => {
    left.add(event)
    queueMicrotask(() => left.delete(event))
  })
  for (const signal of signals) {
    let endingSinceMs: number | undefined
    const end = () => {
      process.removeListener(signal, onSignal)
      // Nothing tells of the end that a signal makes.
      tell(process)
      try {
        process.kill(process.pid, signal)
      } catch {
        // Deno asks for a permission.
        process.exit(128 + numbers[signal])
      }
    }
    const onSignal = () => {
      // The application handles the signal itself: it decides when the process ends.
      const isHandled = left.has(signal) || process.listenerCount(signal) - listenersOfSignalExit(process) > 1
      if (isHandled) return void flushBusy(false)
      if (endingSinceMs !== undefined) {
        // A second signal does not wait.
        if (performance.now() - endingSinceMs > sameSignalMs) end()
        return
      }
      endingSinceMs = performance.now()
      endCalls()
      void flushBusy(true).finally(end)
    }
    // First, so that most listeners that take themselves off as they are called are still counted.
    process.prependListener(signal, onSignal)
  }
}

const add = (
  process: Host,
  place: typeof flushed | typeof told,
  recorder: Flushable,
  begin: (process: Host, all: Known) => void
) => {
  const known = process[place]
  const recorders = known ?? new Set()
  // Without those that were collected since then, so that an application which creates many holds no trace of them.
  const all = () =>
    [...recorders].flatMap((reference) => {
      const recorder = reference.deref()
      if (recorder === undefined) recorders.delete(reference)
      return recorder === undefined ? [] : [recorder]
    })
  all()
  recorders.add(new WeakRef(recorder))
  if (known !== undefined) return
  Object.defineProperty(process, place, { value: recorders })
  begin(process, all)
}

/** `recorder` is flushed before the process ends, if `isFlushed`, and says what is lost. */
export const flushAtEnd = (recorder: Flushable, isFlushed: boolean): void => {
  const process = processOf() as Host | undefined
  if (typeof process?.prependListener !== "function" || typeof process.kill !== "function") return
  if (isFlushed) add(process, flushed, recorder, listen)
  add(process, told, recorder, listenToExit)
}
