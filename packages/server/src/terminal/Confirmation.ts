/** Asks a person before something is erased. */
import * as Effect from "effect/Effect"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { CommandError, UsageError } from "./CliErrors.ts"

/** What a person has who can be asked. */
interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly output: Writable & { readonly isTTY?: boolean }
}

/** Whether the answer is yes. The end of the input is a no. */
const asked = ({ input, output }: Terminal, question: string): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const lines = createInterface({ input, output })
    let answer = ""
    lines.on("close", () => resume(Effect.succeed(/^y(es)?$/i.test(answer.trim()))))
    lines.question(`${question} [y/N] `, (given) => {
      answer = given
      lines.close()
    })
    return Effect.sync(() => lines.close())
  })

/** Succeeds if the person says yes. Without a terminal nobody can be asked: then `--yes` says it. */
export const confirm = Effect.fnUntraced(function* (
  question: string,
  terminal: Terminal = { input: process.stdin, output: process.stderr }
): Effect.fn.Return<void, UsageError | CommandError> {
  if (terminal.input.isTTY !== true || terminal.output.isTTY !== true) {
    return yield* new UsageError({ message: "This cannot be undone: say --yes, where no terminal can ask" })
  }
  if (!(yield* asked(terminal, question))) return yield* new CommandError({ message: "Nothing was erased" })
})
