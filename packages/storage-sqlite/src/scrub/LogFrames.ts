/** Which pages the frames of a write-ahead log hold. https://sqlite.org/fileformat2.html#the_write_ahead_log */
import { closeSync, openSync, readSync } from "node:fs"
import { frameHeaderBytes, logHeaderBytes } from "../file/LogHeaders.ts"

/** Where the two salts are in the header of the log, and in those of frames. They change when the log starts anew. */
const logSalts = 16
const frameSalts = 8
const saltBytes = 8

/** Frames in one read. */
const chunkFrames = 256

export class LogFrames {
  readonly #path: string
  readonly #frameBytes: number
  readonly #chunk: Buffer
  /** The log that was read last, and how many of its frames. */
  #salts = Buffer.alloc(saltBytes)
  #frames = 0

  constructor(path: string, pageBytes: number) {
    this.#path = path
    this.#frameBytes = frameHeaderBytes + pageBytes
    this.#chunk = Buffer.allocUnsafe(chunkFrames * this.#frameBytes)
  }

  /**
   * The pages of the frames that were added since the last call. `frames` is how many the log has now. Since the last call
   * the log may have started anew at most once, and only after all frames of that call.
   */
  read(frames: number): ReadonlySet<number> {
    const pages = new Set<number>()
    if (frames === 0) {
      this.#frames = 0
      return pages
    }
    // No locks are on this file, so closing it releases none.
    const descriptor = openSync(this.#path, "r")
    try {
      const header = Buffer.alloc(logHeaderBytes)
      if (readSync(descriptor, header, 0, logHeaderBytes, 0) < logHeaderBytes) throw new Error("The log has no header")
      const salts = header.subarray(logSalts, logSalts + saltBytes)
      if (!salts.equals(this.#salts) || frames < this.#frames) this.#frames = 0
      this.#salts = salts
      while (this.#frames < frames) {
        const count = Math.min(chunkFrames, frames - this.#frames)
        const position = logHeaderBytes + this.#frames * this.#frameBytes
        const bytes = readSync(descriptor, this.#chunk, 0, count * this.#frameBytes, position)
        if (bytes < count * this.#frameBytes) throw new Error("The log is shorter than its index says")
        for (let at = 0; at < bytes; at += this.#frameBytes) {
          if (!this.#chunk.subarray(at + frameSalts, at + frameSalts + saltBytes).equals(salts)) {
            throw new Error("The log has a frame of an earlier log")
          }
          pages.add(this.#chunk.readUInt32BE(at))
        }
        this.#frames += count
      }
    } finally {
      closeSync(descriptor)
    }
    return pages
  }
}
