/** Failures that a person at the terminal meets: one line that says what to do, and the exit code that goes with it. */
import { Data, Runtime } from "effect"

/** The command was not as it should be: exit 2. */
export class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = 2
  override readonly [Runtime.errorReported] = false
}

/** The command was right and could not be done: exit 1. */
export class CommandError extends Data.TaggedError("CommandError")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
}
