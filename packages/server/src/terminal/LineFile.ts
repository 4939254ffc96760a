/** Where lines of an export are written: standard output, or a file that is continued after its last settled event. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type FileHandle, open as openFile } from "node:fs/promises"
import { CommandError, Ended } from "./CliErrors.ts"

export interface LineFile {
  /** The last settled event of the file; undefined if it has none. */
  readonly lastEvent: string | undefined
  /** Succeeds when the lines are written. The first ones replace what follows that event in the file. */
  readonly write: (lines: Uint8Array) => Effect.Effect<void, CommandError | Ended>
  /** Takes back what was written after the last settled event: an export that was cut is continued there. */
  readonly back: Effect.Effect<void, CommandError>
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
    }),
  back: Effect.void
}

const blockBytes = 64 * 1024
const lineFeed = 0x0a

/** How much of a line says what it is. */
const headBytes = 300

interface Line {
  readonly head: string
  /** After its line break. */
  readonly end: number
}

/** The whole lines of the first bytes of a file, the last one first. */
async function* linesBackwards(file: FileHandle, bytes: number): AsyncGenerator<Line> {
  const block = Buffer.alloc(blockBytes + headBytes)
  const headAt = async (start: number, end: number) => {
    const head = Buffer.alloc(Math.min(headBytes, end - start))
    await file.read(head, 0, head.length, start)
    return head.toString("latin1")
  }
  let end: number | undefined
  for (let blockEnd = bytes; blockEnd > 0;) {
    const blockStart = Math.max(0, blockEnd - blockBytes)
    // Also the beginning of what follows, for the head of a line that starts at its end.
    const { bytesRead } = await file.read(block, 0, Math.min(bytes, blockEnd + headBytes) - blockStart, blockStart)
    for (let at = blockEnd - blockStart; (at = block.lastIndexOf(lineFeed, at - 1)) !== -1;) {
      const start = blockStart + at + 1
      if (end !== undefined) {
        const isInBlock = start + headBytes <= blockStart + bytesRead || end <= blockStart + bytesRead
        const head = block.toString("latin1", at + 1, Math.min(at + 1 + headBytes, end - blockStart))
        yield { head: isInBlock ? head : await headAt(start, end), end }
      }
      end = start
      if (at === 0) break
    }
    blockEnd = blockStart
  }
  if (end !== undefined) yield { head: await headAt(0, end), end }
}

const event = /^\{"type":"(?:event|damaged)","event_id":"([0-9a-f-]{36})"(,"settled":false)?/
const other = /^\{"type":"(?:end|more|export|agent|agent-version|person|fingerprint)"/
const firstLine = /^\{"type":"export"/

/**
 * The last event that had settled, and the end of its line: others may have appeared before a later one since. At 0, if there is no such
 * event.
 */
const lastSettled = async (file: FileHandle): Promise<{ readonly end: number; readonly event: string | undefined }> => {
  const { size } = await file.stat()
  let first = ""
  for await (const { end, head } of linesBackwards(file, size)) {
    const found = event.exec(head)
    if (found !== null && found[2] === undefined) return { end, event: found[1] }
    if (found === null && !other.test(head)) throw new Error("it is no export")
    first = head
  }
  if (size > 0 && !firstLine.test(first)) throw new Error("it is no export")
  return { end: 0, event: undefined }
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
  const attempt = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: failed })
  return Effect.gen(function* () {
    const file = yield* opened
    const { end, event } = yield* attempt(() => lastSettled(file))
    const cutAfter = async (end: number) => {
      if (end < (await file.stat()).size) await file.truncate(end)
    }
    let isBegun = false
    return {
      lastEvent: event,
      write: (lines) =>
        attempt(async () => {
          // Not before there is an answer: without one, the file stays as it was.
          if (!isBegun) await cutAfter(end)
          isBegun = true
          await file.appendFile(lines)
        }),
      back: attempt(async () => {
        if (isBegun) await cutAfter(Math.max(end, (await lastSettled(file)).end))
      })
    }
  })
}
