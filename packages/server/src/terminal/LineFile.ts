/** Where lines are written: standard output, or a file that is continued after its last whole line. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type FileHandle, open as openFile } from "node:fs/promises"
import { CommandError, Ended } from "./CliErrors.ts"

export interface LineFile {
  /** The last event that the file has, after which an export can be continued; undefined if it has none. */
  readonly lastEvent: string | undefined
  /** Succeeds when the lines are written. */
  readonly write: (lines: Uint8Array) => Effect.Effect<void, CommandError | Ended>
}

/** As of a program that SIGPIPE has ended. */
const brokenPipe = 128 + 13

const onStandardOutput: LineFile = {
  lastEvent: undefined,
  write: (lines) =>
    Effect.callback((resume) => {
      process.stdout.write(lines, (error: NodeJS.ErrnoException | null | undefined) => {
        if (!error) return resume(Effect.void)
        if (error.code === "EPIPE") return resume(Effect.fail(new Ended({ exitCode: brokenPipe })))
        resume(Effect.fail(new CommandError({ message: `Cannot write to standard output: ${error.message}` })))
      })
    })
}

const blockBytes = 64 * 1024
const lineFeed = 0x0a

/** The end of the last whole line in the first bytes of a file; 0 if there is none. */
const endOfLines = async (file: FileHandle, bytes: number): Promise<number> => {
  const block = Buffer.alloc(blockBytes)
  for (let end = bytes; end > 0;) {
    const start = Math.max(0, end - blockBytes)
    const { bytesRead } = await file.read(block, 0, end - start, start)
    const at = block.subarray(0, bytesRead).lastIndexOf(lineFeed)
    if (at !== -1) return start + at + 1
    end = start
  }
  return 0
}

/** The beginning of the line that ends there. */
const headOf = async (file: FileHandle, end: number) => {
  const start = await endOfLines(file, end - 1)
  const head = Buffer.alloc(Math.min(300, end - start))
  await file.read(head, 0, head.length, start)
  return { start, head: head.toString("latin1") }
}

/**
 * Cuts what follows the last event that had settled, and returns its id: others may have appeared before a later one since. A file
 * without such an event is emptied.
 */
const prepare = async (file: FileHandle): Promise<string | undefined> => {
  const { size } = await file.stat()
  let end = await endOfLines(file, size)
  while (end > 0) {
    const { head, start } = await headOf(file, end)
    const event = /^\{"type":"(?:event|damaged)","event_id":"([0-9a-f-]{36})"(,"settled":false)?/.exec(head)
    if (event !== null && event[2] === undefined) {
      await file.truncate(end)
      return event[1]
    }
    if (event === null && !/^\{"type":"(?:end|more|export|agent|agent-version|person|fingerprint)"/.test(head)) {
      throw new Error("it is no export")
    }
    end = start
  }
  if (size > 0 && end === 0 && (await endOfLines(file, size)) === 0) throw new Error("it is no export")
  await file.truncate(0)
  return undefined
}

/** Until the end of the scope. Standard output if there is no path. */
export const open = (path: string | undefined): Effect.Effect<LineFile, CommandError, Scope.Scope> => {
  if (path === undefined) return Effect.succeed(onStandardOutput)
  const failed = (error: unknown) =>
    new CommandError({ message: `Cannot write to ${path}: ${(error as Error).message}` })
  const opened = Effect.acquireRelease(
    Effect.tryPromise({ try: () => openFile(path, "a+", 0o600), catch: failed }),
    (file) => Effect.promise(() => file.close())
  )
  return Effect.flatMap(opened, (file) =>
    Effect.map(Effect.tryPromise({ try: () => prepare(file), catch: failed }), (lastEvent) => ({
      lastEvent,
      write: (lines) => Effect.asVoid(Effect.tryPromise({ try: () => file.appendFile(lines), catch: failed }))
    }))
  )
}
