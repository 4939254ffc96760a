/**
 * Events that wait in files of a folder, so that they survive a crash. A file is `TIME-KEY.event`: the time in ms of 13 digits,
 * and the idempotency key, so that an event which two processes send is recorded once. Its first line is the fingerprint, and
 * the rest the event.
 */
import { builtin, type Builtins } from "../platform/Builtins.ts"

export interface SpooledEvent {
  readonly idempotencyKey: string
  readonly fingerprint: string
  readonly event: Uint8Array
}

export interface SpoolEntry {
  readonly idempotencyKey: string
  readonly file: string
}

const suffix = ".event"
/** A file that is not complete. One that is older than this was left by a crash. */
const unfinished = ".partial"
const unfinishedMs = 60 * 60 * 1000

const newline = 10

export class Spool {
  readonly #fs: Builtins["fs"]["promises"]
  readonly #join: Builtins["path"]["join"]
  readonly #folder: string
  readonly #maxBytes: number
  #ready: Promise<unknown> | undefined
  #bytes = 0

  /** Throws a `TypeError` where the platform has no files. */
  constructor(folder: string, maxBytes: number) {
    const fs = builtin("fs")?.promises
    const join = builtin("path")?.join
    if (fs === undefined || join === undefined) throw new TypeError("spool: this platform has no files")
    this.#fs = fs
    this.#join = join
    this.#folder = folder
    this.#maxBytes = maxBytes
  }

  /** Rejects if the file cannot be written, or the folder holds as much as it may. The event is on disk afterwards. */
  async write({ event, fingerprint, idempotencyKey }: SpooledEvent): Promise<SpoolEntry> {
    await this.#open()
    const head = new TextEncoder().encode(`${fingerprint}\n`)
    const bytes = head.length + event.length
    if (this.#bytes + bytes > this.#maxBytes) throw new Error("The spool is full")
    this.#bytes += bytes
    const name = `${String(Date.now()).padStart(13, "0")}-${idempotencyKey}`
    const partial = this.#join(this.#folder, name + unfinished)
    const file = this.#join(this.#folder, name + suffix)
    try {
      const handle = await this.#fs.open(partial, "wx", 0o600)
      try {
        await handle.writev([head, event])
        await handle.datasync()
      } finally {
        await handle.close()
      }
      await this.#fs.rename(partial, file)
    } catch (error) {
      this.#bytes -= bytes
      await this.#fs.rm(partial, { force: true }).catch(() => {})
      throw error
    }
    return { idempotencyKey, file }
  }

  /** Undefined where another process has sent and removed it. */
  async read({ file, idempotencyKey }: SpoolEntry): Promise<SpooledEvent | undefined> {
    let content: Uint8Array
    try {
      content = await this.#fs.readFile(file)
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === "ENOENT") return undefined
      throw error
    }
    const end = content.indexOf(newline)
    const fingerprint = new TextDecoder().decode(content.subarray(0, end))
    return { idempotencyKey, fingerprint, event: content.subarray(end + 1) }
  }

  async remove({ file }: SpoolEntry): Promise<void> {
    try {
      const { size } = await this.#fs.stat(file)
      await this.#fs.rm(file)
      this.#bytes -= size
    } catch {}
  }

  /** The events of earlier processes, and of others that use the folder, the oldest first. */
  async list(): Promise<ReadonlyArray<SpoolEntry>> {
    await this.#open()
    const names = await this.#fs.readdir(this.#folder)
    return names
      .filter((name) => name.endsWith(suffix))
      .sort()
      .map((name) => ({
        idempotencyKey: name.slice(name.indexOf("-") + 1, -suffix.length),
        file: this.#join(this.#folder, name)
      }))
  }

  /** Creates the folder, counts what it holds, and removes what crashes have left. */
  #open(): Promise<unknown> {
    return (this.#ready ??= this.#inspect().catch((error: unknown) => {
      this.#ready = undefined
      throw error
    }))
  }

  async #inspect(): Promise<void> {
    await this.#fs.mkdir(this.#folder, { recursive: true, mode: 0o700 })
    for (const name of await this.#fs.readdir(this.#folder)) {
      if (!name.endsWith(suffix) && !name.endsWith(unfinished)) continue
      const file = this.#join(this.#folder, name)
      const stat = await this.#fs.stat(file).catch(() => undefined)
      if (stat === undefined) continue
      if (name.endsWith(suffix)) this.#bytes += stat.size
      else if (Date.now() - stat.mtimeMs > unfinishedMs) await this.#fs.rm(file, { force: true })
    }
  }
}
