/** Lines on standard output, and whether anybody can still read them. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { CommandError, Ended } from "./CliErrors.ts"

/** As of a program that SIGPIPE has ended. */
const brokenPipe = 128 + 13

/** Files and pipes are written at once, except pipes on Windows, whose error is seen with the next line. */
const check = Effect.suspend((): Effect.Effect<void, CommandError | Ended> => {
  const error: NodeJS.ErrnoException | null = process.stdout.errored
  if (error === null) return Effect.void
  if (error.code === "EPIPE") return Effect.fail(new Ended({ exitCode: brokenPipe }))
  return Effect.fail(new CommandError({ message: `Cannot write to standard output: ${error.message}` }))
})

/** What moves a terminal or reorders its text. JSON escapes only the older control characters. */
const movesTerminal = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`
  ).join("")

/** A line as a terminal gets it. What is printed for people has none of these characters, and JSON remains the same value. */
export const forTerminal = (line: string): string => line.replace(movesTerminal, escaped)

/** Prints a line. Fails if it cannot be written, which Node's console ignores, or if the reader has left, as `head` does. */
export const print = (line: string): Effect.Effect<void, CommandError | Ended> =>
  // Another write to an output that has failed would end the process with a stack trace.
  Effect.andThen(check, Effect.andThen(Console.log(process.stdout.isTTY ? forTerminal(line) : line), check))

/** For people: says that a list is empty, where they would otherwise see nothing. */
export const nothingFound: Effect.Effect<void> = Console.error("Nothing was found")
