/**
 * Bodies in pieces, from one thread to the other, in both directions: of answers, and of requests. At most a window of each is on
 * its way: the side that makes it goes on when the other one has taken what was sent.
 */
import { InFlight } from "@tachograph/core"
import type { Transferable } from "node:worker_threads"
import { BodyCut, type BodyStream } from "../../response/BodyStream.ts"

/** How much of a body is on its way at most (bytes), beside the piece that completes it. */
export const windowBytes = 64 * 1024

/** How long a body waits to be taken (ms). Then it is given up: what it was made for has gone. */
const unclaimedMs = 60_000

/** A message about a body, which the number of its exchange names. */
export type StreamMessage =
  /** From the side that takes a body: it may be sent. */
  | { readonly type: "start"; readonly id: number }
  /** From the side that takes a body: it has taken this number of bytes. */
  | { readonly type: "taken"; readonly id: number; readonly bytes: number }
  /** From the side that takes a body: it takes no more. */
  | { readonly type: "stop"; readonly id: number }
  | { readonly type: "piece"; readonly id: number; readonly piece: Uint8Array<ArrayBuffer> }
  /** The body is complete. */
  | { readonly type: "complete"; readonly id: number }
  /** The rest of the body cannot be made. */
  | { readonly type: "cut"; readonly id: number }

type Send = (message: StreamMessage, transfers?: ReadonlyArray<Transferable>) => void

/** Whether an answer may take this number of bytes. */
type Reserve = (bytes: number) => Promise<boolean>

/** One side of the bodies between two threads. */
export class Streams {
  readonly #send: Send
  readonly #onChange: () => void
  readonly #outgoing = new InFlight<Outgoing>()
  readonly #incoming = new InFlight<Incoming>()
  #isClosed = false

  /** `onChange` is called when `size` has changed. */
  constructor(send: Send, onChange: () => void = () => {}) {
    this.#send = send
    this.#onChange = onChange
  }

  /** How many bodies are on their way. */
  get size(): number {
    return this.#outgoing.size + this.#incoming.size
  }

  /** Sends a body to the other thread, when that asks for it. */
  send(id: number, stream: BodyStream): void {
    const outgoing = new Outgoing(id, stream, this.#send, () => this.#forget(this.#outgoing, id))
    this.#outgoing.set(id, outgoing)
    this.#onChange()
  }

  /** Sends no more of a body. */
  stop(id: number): void {
    this.#outgoing.get(id)?.stop()
  }

  /** A body that the other thread sends. `onReserve` is asked while it is made. */
  receive(id: number, onReserve?: Reserve): BodyStream {
    const start = () => {
      if (this.#isClosed) return incoming.end(false)
      this.#incoming.set(id, incoming)
      this.#onChange()
      this.#send({ type: "start", id })
    }
    const stop = () => {
      this.#send({ type: "stop", id })
      this.#forget(this.#incoming, id)
    }
    const incoming = new Incoming(start, (bytes) => this.#send({ type: "taken", id, bytes }), stop, onReserve)
    return incoming
  }

  /** Asks whether the body that is being received may take this number of bytes; undefined if there is none. */
  reserve(id: number, bytes: number): Promise<boolean> | undefined {
    return this.#incoming.get(id)?.onReserve?.(bytes)
  }

  /** What came from the other thread. */
  handle(message: StreamMessage): void {
    const { id } = message
    switch (message.type) {
      case "start":
        return this.#outgoing.get(id)?.start()
      case "taken":
        return this.#outgoing.get(id)?.taken(message.bytes)
      case "stop":
        return this.#outgoing.get(id)?.stop()
      case "piece":
        return this.#incoming.get(id)?.add(message.piece)
      default:
        this.#incoming.get(id)?.end(message.type === "complete")
        this.#forget(this.#incoming, id)
    }
  }

  /** Cuts all bodies, now and from now on: one of the threads ends. */
  close(): void {
    this.#isClosed = true
    for (const outgoing of this.#outgoing.values()) outgoing.stop()
    for (const [id, incoming] of this.#incoming.entries()) {
      incoming.end(false)
      this.#forget(this.#incoming, id)
    }
  }

  #forget(bodies: InFlight<Outgoing> | InFlight<Incoming>, id: number): void {
    if (bodies.delete(id)) this.#onChange()
  }
}

/** A body that this thread makes. */
class Outgoing {
  readonly #id: number
  readonly #stream: BodyStream
  readonly #send: Send
  readonly #onEnd: () => void
  readonly #unclaimed: NodeJS.Timeout
  /** Sent, and not taken yet. */
  #outstandingBytes = 0
  #isStarted = false
  #isStopped = false
  #resume = () => {}

  constructor(id: number, stream: BodyStream, send: Send, onEnd: () => void) {
    this.#id = id
    this.#stream = stream
    this.#send = send
    this.#onEnd = onEnd
    this.#unclaimed = setTimeout(() => this.stop(), unclaimedMs).unref()
  }

  start(): void {
    clearTimeout(this.#unclaimed)
    if (this.#isStarted || this.#isStopped) return
    this.#isStarted = true
    void this.#pump().finally(this.#onEnd)
  }

  taken(bytes: number): void {
    this.#outstandingBytes -= bytes
    if (this.#outstandingBytes <= windowBytes) this.#resume()
  }

  stop(): void {
    clearTimeout(this.#unclaimed)
    this.#isStopped = true
    this.#stream.cancel()
    this.#resume()
    if (!this.#isStarted) this.#onEnd()
  }

  async #pump(): Promise<void> {
    const id = this.#id
    try {
      while (!this.#isStopped) {
        const piece = await this.#stream.next()
        if (piece === undefined) return this.#send({ type: "complete", id })
        this.#outstandingBytes += piece.length
        this.#send({ type: "piece", id, piece: piece as Uint8Array<ArrayBuffer> }, [piece.buffer as ArrayBuffer])
        if (this.#outstandingBytes > windowBytes) await new Promise<void>((resume) => (this.#resume = resume))
      }
    } catch {
      // What makes the body knows why, and has logged it.
      this.#send({ type: "cut", id })
    }
  }
}

/** A body that the other thread makes. */
class Incoming implements BodyStream {
  readonly #start: () => void
  readonly #onTaken: (bytes: number) => void
  readonly #onStop: () => void
  readonly onReserve: Reserve | undefined
  readonly #pieces: Array<Uint8Array> = []
  #state: "new" | "open" | "complete" | "cut" = "new"
  #wake = () => {}

  constructor(start: () => void, onTaken: (bytes: number) => void, onStop: () => void, onReserve: Reserve | undefined) {
    this.#start = start
    this.#onTaken = onTaken
    this.#onStop = onStop
    this.onReserve = onReserve
  }

  readonly next = async (): Promise<Uint8Array | undefined> => {
    if (this.#state === "new") {
      this.#state = "open"
      this.#start()
    }
    while (this.#pieces.length === 0 && this.#state === "open") {
      await new Promise<void>((wake) => (this.#wake = wake))
    }
    if (this.#state === "cut") throw new BodyCut()
    const piece = this.#pieces.shift()
    if (piece !== undefined && this.#state === "open") this.#onTaken(piece.length)
    return piece
  }

  readonly cancel = (): void => {
    const isStopped = this.#state === "new" || this.#state === "open"
    this.end(false)
    if (isStopped) this.#onStop()
  }

  add(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.#wake()
  }

  end(isComplete: boolean): void {
    if (this.#state === "cut") return
    this.#state = isComplete ? "complete" : "cut"
    if (!isComplete) this.#pieces.length = 0
    this.#wake()
  }
}
