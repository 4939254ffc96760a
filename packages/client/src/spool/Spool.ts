/**
 * Events that wait in files of a folder, so that they survive a crash. A file is `TIME-KEY.event`: the time in ms of 13 digits,
 * and the idempotency key, so that an event which two processes send is recorded once. Its first line is the fingerprint, and
 * the rest the event.
 */
import { builtin, type Builtins } from "../platform/Builtins.ts"
import * as Limiter from "../platform/Limiter.ts"
import * as Utf8 from "../platform/Utf8.ts"
import * as Owner from "./Owner.ts"

export interface SpooledEvent {
  readonly idempotencyKey: string
  readonly fingerprint: string
  readonly event: Uint8Array
}

export interface SpoolEntry {
  readonly idempotencyKey: string
  readonly file: string
  /** The size of the file. */
  readonly bytes: number
  /** How often the folder had been created when the file was seen there. */
  readonly folders: number
}

const suffix = ".event"

/** Everything else in the folder is somebody else's, or was renamed. */
const nameOfEvent = /^\d{13}-([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.event$/
/** A file that is not complete. One that is older than this was left by a crash. */
const unfinished = ".partial"
const unfinishedMs = 60 * 60 * 1000

const newline = 10

/** What a crash of the system or a full disk has cut is kept under this name, for people to look at. */
const damaged = ".damaged"

/** It will never be sent. */
class DamagedFile extends Error {
  readonly isFinal = true
}

/** Somebody else may have put it there, or changed it. It stays where it is. */
class ForeignFile extends Error {}

/** It will never be sent either. */
class MissingFolder extends Error {
  readonly isFinal = true
}

const isMissing = (error: unknown): boolean => (error as { readonly code?: unknown }).code === "ENOENT"

/** Whether a line may be an object in JSON, as far as its ends tell: what is cut within it the server refuses. */
const isWhole = (line: Uint8Array): boolean => line[0] === 123 && line.at(-1) === 125

/** The folder is counted again after a 16th of what it may hold was written. */
const partsUntilCounted = 16

/** What systems say that cannot write the names of a folder to disk when they are told to, such as Windows. */
const cannotSync: ReadonlySet<unknown> = new Set(["EACCES", "EINVAL", "EISDIR", "ENOSYS", "ENOTSUP", "EPERM"])

/** Files that are written at once, and removed. Each takes one of the four threads that the application needs for files too. */
const concurrency = 2

export class Spool {
  readonly #fs: Builtins["fs"]["promises"]
  readonly #fsNow: Builtins["fs"]
  readonly #join: Builtins["path"]["join"]
  readonly #parentOf: Builtins["path"]["dirname"]
  readonly #folder: string
  readonly #maxBytes: number
  readonly #writes = Limiter.make(concurrency)
  readonly #removals = Limiter.make(1)
  #ready: Promise<unknown> | undefined
  /** How often this process has created the folder: what a former one held is gone. */
  #folders = 0
  /** What the folder holds, as far as is known: other processes write and remove files too. */
  #bytes = 0
  #files = 0
  /** Bytes of files that are being written. */
  #writing = 0
  /** Bytes that this process has written since it counted last. */
  #uncounted = 0
  #countedAt = 0
  #countingMs = 0

  /** Throws a `TypeError` where the platform has no files, or others may write in the folder. */
  constructor(folder: string, maxBytes: number) {
    const fs = builtin("fs")
    const path = builtin("path")
    if (fs === undefined || path === undefined) throw new TypeError("spool: this platform has no files")
    this.#fs = fs.promises
    this.#fsNow = fs
    this.#join = path.join
    this.#parentOf = path.dirname
    // The application may change its working directory.
    this.#folder = path.resolve(folder)
    this.#maxBytes = maxBytes
    Owner.checkFolder(fs, this.#folder)
  }

  /** How many events the folder holds, as far as is known. */
  get size(): number {
    return this.#files
  }

  /**
   * Rejects if the file cannot be written, or the folder holds as much as it may. The event and its name are on disk afterwards, as
   * far as the system says the truth.
   */
  write(event: SpooledEvent): Promise<SpoolEntry> {
    return this.#writes.run(() => this.#write(event))
  }

  /**
   * Writes an event at once, as the process ends, so that it survives that. Throws if it cannot. Where it is being written already,
   * there may be two files of it, with one key.
   */
  writeNow(event: SpooledEvent): void {
    const { bytes, file, parts, partial } = this.#filesOf(event)
    if (this.#isFullFor(bytes)) throw new Error("The spool is full")
    const { O_CREAT, O_NOFOLLOW = 0, O_TRUNC, O_WRONLY } = this.#fsNow.constants
    const descriptor = this.#fsNow.openSync(partial, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
    try {
      try {
        for (const part of parts) this.#fsNow.writeFileSync(descriptor, part)
      } finally {
        this.#fsNow.closeSync(descriptor)
      }
      this.#fsNow.renameSync(partial, file)
    } catch (error) {
      this.#fsNow.rmSync(partial, { force: true })
      throw error
    }
    this.#bytes += bytes
  }

  #filesOf({ event, fingerprint, idempotencyKey }: SpooledEvent) {
    const head = Utf8.bytesOf(`${fingerprint}\n`)
    const path = this.#join(this.#folder, `${String(Date.now()).padStart(13, "0")}-${idempotencyKey}`)
    const bytes = head.length + event.length
    return { bytes, file: path + suffix, parts: [head, event], partial: path + unfinished }
  }

  async #write(event: SpooledEvent): Promise<SpoolEntry> {
    await this.#open()
    const { bytes, file, parts, partial } = this.#filesOf(event)
    if (this.#isStale(bytes)) await this.#count()
    if (this.#isFullFor(bytes)) throw new Error("The spool is full")
    this.#writing += bytes
    try {
      const handle = await this.#fs.open(partial, "wx", 0o600)
      try {
        // Goes on after a write that took a part, as where a disk fills up: `writev` would not say so.
        for (const part of parts) await handle.writeFile(part)
        await handle.datasync()
      } finally {
        await handle.close()
      }
      await this.#fs.rename(partial, file)
      await this.#sync(this.#folder)
      this.#bytes += bytes
      this.#files++
      this.#uncounted += bytes
    } catch (error) {
      for (const name of [partial, file]) await this.#fs.rm(name, { force: true }).catch(() => {})
      // Somebody has removed the folder. The next event creates it again.
      if (isMissing(error)) this.#ready = undefined
      throw error
    } finally {
      this.#writing -= bytes
    }
    return { idempotencyKey: event.idempotencyKey, file, bytes, folders: this.#folders }
  }

  /** Writes the names of a folder to disk, where the system can. */
  async #sync(folder: string): Promise<void> {
    try {
      const handle = await this.#fs.open(folder, "r")
      await handle.sync().finally(() => handle.close())
    } catch (error) {
      if (!cannotSync.has((error as { readonly code?: unknown }).code)) throw error
    }
  }

  #isFullFor(bytes: number): boolean {
    return this.#bytes + this.#writing + bytes > this.#maxBytes
  }

  /** Whether to count again: where the folder seems to be full, and after a part of it was written. Not all the time. */
  #isStale(bytes: number): boolean {
    if (performance.now() - this.#countedAt < 10 * this.#countingMs) return false
    return this.#isFullFor(bytes) || this.#uncounted > this.#maxBytes / partsUntilCounted
  }

  /** Undefined where another process has sent and removed it. */
  async read({ file, folders, idempotencyKey }: Omit<SpoolEntry, "bytes">): Promise<SpooledEvent | undefined> {
    let content: Uint8Array
    try {
      content = await this.#contentOf(file)
    } catch (error) {
      if (!isMissing(error)) throw error
      if (folders === this.#folders && (await this.#hasFolder())) return undefined
      throw new MissingFolder(`The folder of the spool was removed: ${this.#folder}`)
    }
    const end = content.indexOf(newline)
    const line = content.subarray(0, Math.max(0, end))
    const event = content.subarray(end + 1)
    if (!isWhole(line) || !isWhole(event)) {
      await this.#fs.rename(file, file + damaged)
      throw new DamagedFile(`A file of the spool is damaged: ${file}${damaged}`)
    }
    return { idempotencyKey, fingerprint: Utf8.textOf([line]), event }
  }

  /** A link is not followed, nor a pipe waited for: one may have come since the folder was read. */
  async #contentOf(file: string): Promise<Uint8Array> {
    const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = this.#fsNow.constants
    const handle = await this.#fs.open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const stat = await handle.stat()
      const foreign = stat.isFile() ? Owner.strangersIn(stat) : "it is no file"
      if (foreign !== undefined)
        throw new ForeignFile(`A file of the spool may be another user's, and is not sent: of ${file} ${foreign}`)
      return await handle.readFile()
    } finally {
      await handle.close()
    }
  }

  async #hasFolder(): Promise<boolean> {
    return this.#fs.access(this.#folder).then(
      () => true,
      (error: unknown) => !isMissing(error)
    )
  }

  /** Rejects where the file is still there. */
  async remove({ bytes, file }: SpoolEntry): Promise<void> {
    await this.#removals.run(() => this.#fs.rm(file, { force: true }))
    this.#bytes = Math.max(0, this.#bytes - bytes)
    this.#files = Math.max(0, this.#files - 1)
  }

  /** The events of earlier processes, and of others that use the folder, the oldest first. */
  async list(): Promise<ReadonlyArray<SpoolEntry>> {
    await this.#open()
    return this.#count()
  }

  /** Creates the folder, counts what it holds, and removes what crashes have left. */
  #open(): Promise<unknown> {
    return (this.#ready ??= this.#inspect().catch((error: unknown) => {
      this.#ready = undefined
      throw error
    }))
  }

  /** Creates the folder and those above it. Node's own way never returns where one of them cannot be made, as in `/proc`. */
  async #create(folder: string): Promise<void> {
    const create = () =>
      this.#fs.mkdir(folder, { mode: 0o700 }).then(
        () => undefined,
        (error: unknown) => (error as { readonly code?: unknown }).code
      )
    const parent = this.#parentOf(folder)
    const failure = await create()
    if (failure === "ENOENT" && parent !== folder) {
      await this.#create(parent)
      await create()
    } else if (failure !== undefined) return
    if (folder === this.#folder) this.#folders++
    await this.#sync(parent).catch(() => {})
  }

  async #inspect(): Promise<void> {
    await this.#create(this.#folder)
    for (const name of await this.#fs.readdir(this.#folder)) {
      if (!name.endsWith(unfinished)) continue
      const file = this.#join(this.#folder, name)
      const stat = await this.#fs.lstat(file).catch(() => undefined)
      if (stat !== undefined && Date.now() - stat.mtimeMs > unfinishedMs) await this.#fs.rm(file, { force: true })
    }
    await this.#count()
  }

  async #count(): Promise<ReadonlyArray<SpoolEntry>> {
    const startedAt = performance.now()
    const before = this.#uncounted
    const entries: Array<SpoolEntry> = []
    // It may be another one than the one that was created, or its mode another.
    Owner.checkFolder(this.#fsNow, this.#folder)
    const names = await this.#fs.readdir(this.#folder)
    for (const name of names.sort()) {
      const idempotencyKey = nameOfEvent.exec(name)?.[1]
      if (idempotencyKey === undefined) continue
      const file = this.#join(this.#folder, name)
      // Another process may have removed it meanwhile.
      const stat = await this.#fs.lstat(file).catch(() => undefined)
      // A folder is no event, nor is a link, or a pipe, which would be waited for.
      if (stat?.isFile() !== true) continue
      entries.push({ idempotencyKey, file, bytes: stat.size, folders: this.#folders })
    }
    // What was written meanwhile may be among the entries or not.
    this.#uncounted = Math.max(0, this.#uncounted - before)
    this.#bytes = entries.reduce((sum, { bytes }) => sum + bytes, this.#uncounted)
    this.#files = entries.length
    this.#countedAt = performance.now()
    this.#countingMs = this.#countedAt - startedAt
    return entries
  }
}
