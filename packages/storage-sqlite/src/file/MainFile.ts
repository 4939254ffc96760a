/**
 * Whether the file is still the one that SQLite takes it for. In WAL mode only checkpoints change it, and each leaves a header that
 * is in the log, or that the log goes on from. Anything else was put there past SQLite: a copy over the file, a log of another one.
 */
import { statSync } from "node:fs"
import * as Descriptor from "./Descriptor.ts"
import * as Header from "./Header.ts"
import * as LogHeaders from "./LogHeaders.ts"

/** What SQLite says of the log, by its index. */
export interface LogState {
  readonly frames: number
  /** How many of them are in the file. */
  readonly copied: number
}

/** What SQLite says. */
export interface Connection {
  /** Undefined in a transaction, where it does not say. */
  readonly logState: () => LogState | undefined
  /** Changes with each transaction of another connection. */
  readonly dataVersion: () => number
}

interface State {
  readonly size: number
  readonly header: Buffer
  /** The beginning of the log. */
  readonly log: Buffer
  /** Frames in the log if all of them are in the file, and 0 otherwise. */
  readonly wholeFrames: number
  /** Frames in the log; undefined in a transaction. */
  readonly frames: number | undefined
}

const isSame = (a: State, b: State): boolean =>
  a.size === b.size && a.wholeFrames === b.wholeFrames && a.header.equals(b.header) && a.log.equals(b.log)

/** How often, and after how many milliseconds, files are looked at again that another process may be writing at this moment. */
const maxLooks = 20
const pauseMs = 1

const pause = new Int32Array(new SharedArrayBuffer(4))

/** Whether it holds now, or soon: another process may be between two of its writes. */
export const holdsAtLast = (holds: () => boolean): boolean => {
  for (let left = maxLooks; !holds(); left--) {
    if (left === 0) return false
    Atomics.wait(pause, 0, 0, pauseMs)
  }
  return true
}

const notThere = -1

/**
 * Where a log, by its headers, is when the file has this header: 0 before its first transaction, then 1 and so on. Undefined where the log
 * does not say, because no transaction in it changed the header.
 */
const placeIn = (inLog: ReadonlyArray<Buffer>, header: Buffer): number | undefined => {
  const [first] = inLog
  if (first === undefined) return undefined
  const at = inLog.findLastIndex((each) => each.equals(header))
  if (at >= 0) return at + 1
  return Header.isValid(header) && Header.continues(header, first) ? 0 : notThere
}

/** Whether a log goes on from the file with this header. */
export const belongs = (header: Buffer, logDescriptor: number): boolean => {
  const inLog = Array.from(LogHeaders.read(logDescriptor))
  return inLog.length === 0 || (Header.isValid(header) && placeIn(inLog, header) !== notThere)
}

const wholeFramesOf = (state: LogState | undefined): number | undefined =>
  state && (state.frames === state.copied ? state.frames : 0)

type Verdict = "right" | "plausible" | "wrong"

export class MainFile {
  readonly #read: ReturnType<typeof Descriptor.reader>
  readonly #readIndex: ReturnType<typeof Descriptor.reader> | undefined
  readonly #logDescriptor: number
  readonly #pageBytes: number
  readonly #connection: Connection
  /** What was found right last, and the version of the data then. */
  #known: State | undefined
  #version: number
  /** Whether the log proves it. Where another program has just emptied the log, the next transaction does. */
  #isProven = true
  /** Of the last transaction of this connection. */
  #stamp: number | undefined

  constructor(path: string, pageBytes: number, logDescriptor: number, connection: Connection) {
    this.#connection = connection
    this.#version = connection.dataVersion()
    this.#read = Descriptor.reader(statSync(path, { bigint: true }), Header.headerBytes)
    const index = statSync(`${path}-shm`, { bigint: true, throwIfNoEntry: false })
    this.#readIndex = index && Descriptor.reader(index, LogHeaders.indexBytes)
    this.#logDescriptor = logDescriptor
    this.#pageBytes = pageBytes
    this.#known = this.#look()
  }

  /** The stamp of a transaction that is about to be committed. */
  stamp(stamp: number): void {
    this.#stamp = stamp
  }

  /** Whether the file is the one that is open. */
  isRight(): boolean {
    return holdsAtLast(() => {
      const state = this.#look()
      if (state === undefined) return true
      this.#known ??= state
      if (this.#isProven && isSame(state, this.#known)) return true
      const version = this.#connection.dataVersion()
      const verdict = this.#judge(state, this.#known, version)
      if (verdict === "wrong") return false
      this.#version = version
      this.#known = state
      this.#isProven = verdict === "right"
      return true
    })
  }

  #look(): State | undefined {
    const state = this.#connection.logState()
    const found = this.#read()
    if (found === undefined) return undefined
    const log = LogHeaders.beginning(this.#logDescriptor)
    return {
      size: found.size,
      header: found.first,
      log,
      wholeFrames: wholeFramesOf(state) ?? this.#known?.wholeFrames ?? 0,
      frames: state?.frames
    }
  }

  #judge(state: State, known: State, version: number): Verdict {
    const { header, size } = state
    if (!Header.isValid(header)) return "wrong"
    // A file and a log may both be copied over, and belong to each other.
    const index = this.#readIndex?.()?.first
    if (index?.length === LogHeaders.indexBytes && !LogHeaders.isIndexed(state.log, index)) return "wrong"
    const isKnown = header.equals(known.header)
    if (Header.stampOf(header) === this.#stamp)
      return !isKnown || this.#isSizeRight(size, known, [header]) ? "right" : "wrong"
    const inLog = Array.from(LogHeaders.read(this.#logDescriptor, state.frames))
    if (isKnown && !this.#isSizeRight(size, known, inLog)) return "wrong"
    const at = placeIn(inLog, header)
    if (at === undefined) {
      const isChanged = !state.log.equals(known.log) || version !== this.#version
      return isKnown || isChanged ? "plausible" : "wrong"
    }
    // Checkpoints go forward, and one that was completed has left the last header.
    const isForward = at >= (placeIn(inLog, known.header) ?? notThere)
    const isComplete = state.frames === undefined || state.wholeFrames === 0 || at === inLog.length
    return at !== notThere && isForward && isComplete ? "right" : "wrong"
  }

  /** A checkpoint may have written the header and not all other pages, or other pages up to what a reader still needs, and no header. */
  #isSizeRight(size: number, known: State, inLog: ReadonlyArray<Buffer>): boolean {
    const whole = Header.bytesOf(known.header, this.#pageBytes)
    if (size === known.size) return true
    if (size < known.size) return size === whole && inLog.at(-1)?.equals(known.header) === true
    return size <= Math.max(whole, ...inLog.map((later) => Header.bytesOf(later, this.#pageBytes)))
  }
}
