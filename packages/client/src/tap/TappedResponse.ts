/**
 * The response that the application gets: equal to that of the provider in every byte and every property, except that a call
 * sees the bytes pass. A byte is read from the provider when the application asks for it, and not before.
 */
import { interruptionOf } from "../event/Interruption.ts"
import * as Timers from "../platform/Timers.ts"
import { isReadableStream, isResponse, responseClassOf } from "../platform/Web.ts"
import type { Call } from "./Call.ts"

/** How long the body of an error is read on after the application has let go of it, and how much of it. */
const errorBodyMs = 5_000
const errorBodyBytes = 1024 * 1024

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** Ends calls whose response the application has let go of unread. */
const forgotten =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : new FinalizationRegistry<{ readonly call: Call; readonly reader: Reader }>(({ call, reader }) => {
        call.end("unread")
        // The provider's connection is free again, as it would be without the tap.
        reader.cancel().catch(() => {})
      })

/** Whether a body is a stream of bytes, as that of `fetch` is. */
const isOfBytes = (body: ReadableStream<Uint8Array>): boolean => {
  try {
    body.getReader({ mode: "byob" }).releaseLock()
    return true
  } catch {
    return false
  }
}

/** The next bytes. Empty chunks are skipped: a stream of bytes cannot pass them on. */
const read = async (reader: Reader) => {
  let result = await reader.read()
  while (!result.done && result.value.byteLength === 0) result = await reader.read()
  return result
}

/** SDKs do not read the body of an error that they answer with a retry. It says what the error was. */
const readOn = async (reader: Reader, call: Call) => {
  let left = errorBodyBytes
  const stop = Timers.after(errorBodyMs, () => void reader.cancel().catch(() => {}))
  try {
    for (let result = await read(reader); !result.done; result = await read(reader)) {
      call.push(result.value)
      left -= result.value.byteLength
      if (left < 0) break
    }
    call.end()
  } catch {
    call.end("cancelled")
  } finally {
    stop()
    if (left < 0) reader.cancel().catch(() => {})
  }
}

const isAborted = (signal: AbortSignal | null | undefined): boolean => signal?.aborted === true

interface Observed {
  readonly reader: Reader
  readonly isOfBytes: boolean
  readonly isError: boolean
  readonly signal: AbortSignal | null | undefined
}

type Controller = ReadableByteStreamController | ReadableStreamDefaultController<Uint8Array>

/** A stream that the application has let go of must not be held by that of the provider. */
const weakly = (controller: Controller): { readonly deref: () => Controller | undefined } =>
  typeof WeakRef === "undefined" ? { deref: () => controller } : new WeakRef(controller)

/** Calls `end` when the provider's stream has come to its end, read or not, as long as the controller is there. */
const watch = (
  reader: Reader,
  held: ReturnType<typeof weakly>,
  end: (controller: Controller, hasFailed: boolean, error?: unknown) => void
): void => {
  const told = (hasFailed: boolean) => (error?: unknown) => {
    const controller = held.deref()
    if (controller !== undefined) end(controller, hasFailed, error)
  }
  reader.closed.then(told(false), told(true))
}

/**
 * A stream of the same kind. One of bytes takes the memory of each chunk, which no other code has then. The chunks of others may be
 * parts of memory that is in use, and are passed on as they are.
 */
const observed = ({ isError, isOfBytes, reader, signal }: Observed, call: Call): ReadableStream<Uint8Array> => {
  let isReading = false
  /** What the provider's stream has come to. */
  let ending: ((controller: Controller) => void) | undefined
  /** As the provider's stream ends, this one does, even if it is not read. A chunk that is read comes first. */
  const finish = (controller: Controller) => {
    if (isReading || ending === undefined) return
    const end = ending
    ending = () => {}
    try {
      end(controller)
    } catch {
      // The application has cancelled it.
    }
  }
  const ended = () => (controller: Controller) => {
    call.end()
    controller.close()
    // A reader that brought its own buffer waits for an answer.
    if ("byobRequest" in controller) controller.byobRequest?.respond(0)
  }
  const failed = (error: unknown) => (controller: Controller) => {
    call.end(interruptionOf(error, isAborted(signal)), error)
    controller.error(error)
  }
  const start = (controller: Controller) => {
    watch(reader, weakly(controller), (held, hasFailed, error) => {
      ending ??= hasFailed ? failed(error) : ended()
      finish(held)
    })
  }
  const pull = async (controller: Controller) => {
    call.reading()
    isReading = true
    try {
      const result = isOfBytes ? await read(reader) : await reader.read()
      if (result.done) ending ??= ended()
      else {
        // Before it is passed on: that may take the buffer away.
        if (ArrayBuffer.isView(result.value)) call.push(result.value)
        controller.enqueue(result.value)
      }
    } catch (error) {
      ending ??= failed(error)
    }
    isReading = false
    finish(controller)
  }
  const cancel = (reason: unknown) => {
    ending ??= () => {}
    if (isError && !call.isOver) {
      void readOn(reader, call)
      return
    }
    call.end(isAborted(signal) ? "aborted" : "cancelled")
    return reader.cancel(reason)
  }
  const strategy = { highWaterMark: 0 }
  return isOfBytes
    ? new ReadableStream({ type: "bytes", start, pull, cancel }, strategy)
    : new ReadableStream<Uint8Array>({ start, pull, cancel }, strategy)
}

/** Properties that the constructor of a response cannot set. */
const ownProperties = ["headers", "redirected", "type", "url"] as const

const sameAs = (response: Response, body: ReadableStream<Uint8Array>): Response => {
  const { headers, status, statusText } = response
  const OwnResponse = responseClassOf(response)
  /** Copies of copies too, which are of the platform's class. */
  const dressed = (bare: Response): Response => {
    for (const name of ownProperties) Object.defineProperty(bare, name, { value: response[name], configurable: true })
    // That of its own class: what stands in for the platform's may have copies of the platform's.
    const { clone: own } = bare
    const clone = () => dressed(own.call(bare))
    return Object.defineProperty(bare, "clone", { value: clone, configurable: true, writable: true })
  }
  const same = dressed(new OwnResponse(body, { headers, status, statusText }))
  // A class that makes its fields when they are asked for has its own then, and not those of the other object.
  if (same.status !== status || !isReadableStream(same.body)) throw new Error("The class is no response's")
  // What the `fetch` below has added. Properties of the platform's own are there already.
  for (const key of Reflect.ownKeys(response)) {
    if (!Object.hasOwn(same, key)) Object.defineProperty(same, key, Object.getOwnPropertyDescriptor(response, key)!)
  }
  return Object.setPrototypeOf(same, Object.getPrototypeOf(response) as object) as Response
}

/** What a `fetch` may put over the methods of a response reads the body that the tap reads. */
const bodyProperties = ["arrayBuffer", "blob", "body", "bodyUsed", "bytes", "clone", "formData", "json", "text"]

/** Whether a class below the platform's has fields that only its own constructor can make, or says nothing of itself. */
const hasPrivateFields = (response: Response): boolean => {
  const OwnResponse = responseClassOf(response)
  for (let at: object = Object.getPrototypeOf(response); at.constructor !== OwnResponse;) {
    if (Object.hasOwn(at, "constructor") && /#[\w$]|\[native code\]/.test(String(at.constructor))) return true
    at = Object.getPrototypeOf(at)
  }
  return false
}

/** Whether the body of a response can be read through this platform's streams, and the response stays what it is. */
export const canTap = (response: unknown): response is Response =>
  isResponse(response) &&
  (response.body === null || isReadableStream(response.body)) &&
  !bodyProperties.some((name) => Object.hasOwn(response, name)) &&
  !hasPrivateFields(response)

/** `call` has been told that the provider answered. */
export const tapped = (response: Response, call: Call, signal: AbortSignal | null | undefined): Response => {
  if (response.body === null) {
    call.end()
    return response
  }
  const ofBytes = isOfBytes(response.body)
  const reader: Reader = response.body.getReader()
  let same: Response
  try {
    same = sameAs(response, observed({ reader, isOfBytes: ofBytes, isError: !response.ok, signal }, call))
  } catch (error) {
    // The application gets the response itself, and can read it.
    reader.releaseLock()
    throw error
  }
  forgotten?.register(same.body!, { call, reader })
  return same
}
