/** `tachograph import`: takes what was exported, with the same ids. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Argument, Command } from "effect/cli"
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import * as Access from "../access/Access.ts"
import { LineCutter } from "../access/LineCutter.ts"
import * as Transfer from "../access/Transfer.ts"
import { CommandError } from "../terminal/CliErrors.ts"
import * as Figures from "../terminal/Figures.ts"
import * as TransferProgress from "../terminal/TransferProgress.ts"

const unreadable = (path: string) => (error: unknown) =>
  new CommandError({ message: `Cannot read ${path}: ${(error as Error).message}` })

const sizeOf = (path: string) =>
  path === "-"
    ? Effect.succeed(Number.NaN)
    : Effect.map(Effect.tryPromise({ try: () => stat(path), catch: unreadable(path) }), ({ size }) => size)

/** The whole lines of a file, or of standard input. */
const linesOf = (path: string, cutter: LineCutter, onRead: (bytes: number) => void) => {
  const input = () => (path === "-" ? process.stdin : createReadStream(path, { highWaterMark: 256 * 1024 }))
  const lines = Stream.suspend(() => Stream.fromAsyncIterable(input() as AsyncIterable<Buffer>, unreadable(path))).pipe(
    Stream.map((bytes) => {
      const whole = cutter.add(bytes)
      onRead(bytes.length)
      return whole
    })
  )
  return Stream.concat(
    lines,
    Stream.sync(() => cutter.end())
  )
}

/** What a command has imported, in one line. Fails if a line was refused. */
export const summarise = Effect.fnUntraced(function* (
  { exists, failed, imported, kept }: Transfer.Counts,
  what: string
) {
  const parts = [`imported ${Figures.integer(imported)} lines`]
  if (exists > 0) parts.push(`${Figures.integer(exists)} were there already`)
  if (kept > 0) parts.push(`${Figures.integer(kept)} differ from what is there, which was kept`)
  yield* Console.error(`${what}: ${parts.join("; ")}`)
  if (failed > 0) return yield* new CommandError({ message: `${Figures.integer(failed)} lines were refused` })
})

const examples = [
  { command: "tachograph import project.ndjson", description: "Into the storage that a server uses by default" },
  {
    command: "gunzip -c day.ndjson.gz | tachograph import - --url https://tachograph.example.com",
    description: "Into a server"
  }
]

export const importCommand = Command.make(
  "import",
  { ...Access.flags, files: Argument.String("FILE").pipe(Argument.atLeast(1)) },
  Effect.fnUntraced(function* ({ files, ...flags }) {
    const sizes = yield* Effect.forEach(files, sizeOf)
    const total = sizes.reduce((sum, size) => sum + size, 0)
    yield* Access.use(flags, Access.importing, (access) =>
      Effect.gen(function* () {
        const counts = Transfer.noCounts()
        let events = 0
        const progress = yield* TransferProgress.make((bytes) => ({
          events,
          part: Number.isNaN(total) ? undefined : bytes / total
        }))
        for (const path of files) {
          const cutter = new LineCutter()
          const before = events
          const lines = linesOf(path, cutter, (read) => {
            progress.read(read)
            events = before + cutter.events
          })
          yield* Transfer.imported(access, lines, counts, (refused) =>
            Effect.andThen(progress.clear, Console.error(`${path}, ${refused}`))
          )
          if (!cutter.isWhole) {
            yield* Effect.andThen(
              progress.clear,
              Console.error(`${path} is cut: it does not end as a whole export does`)
            )
          }
        }
        yield* progress.clear
        yield* summarise(counts, progress.text())
      })
    )
  })
).pipe(
  Command.withDescription("Import what was exported, with the same ids; run again, it imports what is missing"),
  Command.withExamples(examples)
)
