/** Failures that the command reports as one line on standard error, each with its exit code. */
import * as Data from "effect/Data"
import * as Runtime from "effect/Runtime"

/** The command line or the environment is invalid: exit 2. */
export class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = 2
  override readonly [Runtime.errorReported] = false
}

/** The command is valid but failed: exit 1, unless the command has another meaning for that. */
export class CommandError extends Data.TaggedError("CommandError")<{
  readonly message: string
  readonly exitCode?: number
  /** The type of the error that a request was answered with. */
  readonly refusal?: string | undefined
  /** Whether the reason is that the storage is damaged. */
  readonly isDamage?: boolean
}> {
  override readonly [Runtime.errorExitCode] = this.exitCode ?? 1
  override readonly [Runtime.errorReported] = false
}

/** Ends the command with an exit code, and without a message. */
export class Ended extends Data.TaggedError("Ended")<{ readonly exitCode: number }> {
  override readonly [Runtime.errorExitCode] = this.exitCode
  override readonly [Runtime.errorReported] = false
}
