/** Copies of what passes the proxy, for the recorder. A copy never delays what it copies, and never fails it. */
import { mayBeAnswer } from "@tachograph/capture/Kinds"
import { BodyCollector } from "../front/BodyCollector.ts"
import * as ForwardedHeaders from "./ForwardedHeaders.ts"

/** How many bytes the copies of all calls may take together. */
export class CopyBudget {
  readonly maxBytes: number
  #held = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get held(): number {
    return this.#held
  }

  /** False if they exceed the budget, or this part of it; then they are not counted. */
  reserve(bytes: number, part = 1): boolean {
    if (this.#held + bytes > this.maxBytes * part) return false
    this.#held += bytes
    return true
  }

  release(bytes: number): void {
    this.#held -= bytes
  }
}

/** What a call takes beside its texts and bodies (bytes): the objects that hold it. */
const overheadBytes = 1024

/** What a text takes beside its characters (bytes). */
const textOverheadBytes = 32

/** Texts of headers are Latin-1. */
const bytesOf = (texts: ReadonlyArray<string>): number =>
  texts.reduce((bytes, { length }) => bytes + length + textOverheadBytes, 0)

/** Why a call is not recorded: a body is too long, or the copies of all calls take too much. */
type Unkept = "payload-too-large" | "held-bytes"

/** What requests that may be no calls leave to those that are, of the budget. */
const partOfUnknown = 1 / 2

/** What passed beside the bodies. */
export interface Heard {
  /** 0 where no response came. */
  readonly status: number
  /** On the clock of `performance.now()`; undefined if no byte of the response's body came. */
  readonly firstByteAtMs: number | undefined
  /** Whether the request came to its end. */
  readonly isRequestWhole: boolean
  /** Names and values in turn. */
  readonly requestHeaders: ReadonlyArray<string>
  readonly responseHeaders: ReadonlyArray<string>
}

/** The copies of one call. */
export class Copies {
  readonly #budget: CopyBudget
  readonly #request: BodyCollector
  readonly #response: BodyCollector
  readonly #isUnknown: boolean
  #requestHeaders: ReadonlyArray<string>
  #status = 0
  #firstByteAtMs: number | undefined
  #responseHeaders: ReadonlyArray<string> = []
  #isRequestWhole = false
  #isOver = false
  #held = 0
  #unkept: Unkept | undefined

  /**
   * `maxBytes` is the limit on each of the bodies. `target` is held beside the copies for as long as it is. `isUnknown` says that it may
   * be no call.
   */
  constructor(
    budget: CopyBudget,
    maxBytes: number,
    requestHeaders: ReadonlyArray<string>,
    target: string,
    isUnknown = false
  ) {
    this.#isUnknown = isUnknown
    const permit = { reserve: (bytes: number) => this.#reserve(bytes) }
    this.#budget = budget
    this.#requestHeaders = requestHeaders
    this.#request = new BodyCollector(maxBytes, permit)
    this.#response = new BodyCollector(maxBytes, permit)
    if (!this.#reserve(overheadBytes + bytesOf(requestHeaders) + bytesOf([target]))) this.#unkept = "held-bytes"
  }

  /** Set once a byte could not be kept: then nothing is. */
  get unkept(): Unkept | undefined {
    return this.#unkept
  }

  request(chunk: Uint8Array): void {
    this.#add(this.#request, chunk)
  }

  /** To be called after the request's last chunk. */
  requestEnded(): void {
    if (!this.#isOver) this.#isRequestWhole = true
  }

  head(status: number, headers: ReadonlyArray<string>): void {
    if (this.#isOver) return
    this.#status = status
    if (this.#unkept !== undefined) return
    if (this.#isUnknown && !mayBeAnswer(status, ForwardedHeaders.valueOf(headers, "content-type")))
      return this.#giveUp("held-bytes")
    if (!this.#reserve(bytesOf(headers))) return this.#giveUp("held-bytes")
    this.#responseHeaders = headers
  }

  response(chunk: Uint8Array): void {
    if (!this.#isOver) this.#firstByteAtMs ??= performance.now()
    this.#add(this.#response, chunk)
  }

  /** What comes later is kept no more: each attempt of recording the call finds the same. The headers are not held on. */
  end(): Heard {
    const heard = {
      status: this.#status,
      firstByteAtMs: this.#firstByteAtMs,
      isRequestWhole: this.#isRequestWhole,
      requestHeaders: this.#requestHeaders,
      responseHeaders: this.#responseHeaders
    }
    this.#isOver = true
    this.#requestHeaders = []
    this.#responseHeaders = []
    return heard
  }

  /** The size of the request's copy. */
  get requestBytes(): number {
    return this.#request.length
  }

  /** The size of the copies of both bodies. */
  get bytes(): number {
    return this.#request.length + this.#response.length
  }

  /** The copy of the request's body and that of the response's, in memory that nothing else uses. */
  joined(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(new ArrayBuffer(this.bytes))
    this.#request.copyTo(bytes, 0)
    this.#response.copyTo(bytes, this.#request.length)
    return bytes
  }

  /** Gives back what the call takes of the budget. */
  release(): void {
    this.#budget.release(this.#held)
    this.#held = 0
  }

  #reserve(bytes: number): boolean {
    const isReserved = this.#budget.reserve(bytes, this.#isUnknown ? partOfUnknown : 1)
    if (isReserved) this.#held += bytes
    return isReserved
  }

  #add(collector: BodyCollector, chunk: Uint8Array): void {
    if (this.#isOver || this.#unkept !== undefined) return
    const refused = collector.add(chunk)
    if (refused === undefined) return
    this.#giveUp(refused._tag === "payload-too-large" ? refused._tag : "held-bytes")
  }

  #giveUp(reason: Unkept): void {
    this.#unkept = reason
    this.#requestHeaders = []
    this.#responseHeaders = []
    this.#request.clear()
    this.#response.clear()
    this.release()
  }
}
