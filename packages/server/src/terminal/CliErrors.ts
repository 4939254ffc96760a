/** Failures that the command reports as one line on standard error, each with its exit code. */
import { Data, Runtime } from "effect"

/** The command line or the environment is invalid: exit 2. */
export class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = 2
  override readonly [Runtime.errorReported] = false
}

/** The command is valid but failed: exit 1. */
export class CommandError extends Data.TaggedError("CommandError")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
}
