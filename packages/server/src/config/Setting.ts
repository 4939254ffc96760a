/**
 * A command line option that is also an environment variable: `--max-body` and `TACHOGRAPH_MAX_BODY`. The option takes
 * precedence. The error for an invalid value names where the value came from.
 */
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { UsageError } from "../terminal/CliErrors.ts"

export interface Setting<A> {
  /** For the flags of a command. */
  readonly flag: Flag.Flag<Option.Option<string>>
  /** The value of the option, the environment variable or the default. Fails if there is none. */
  readonly resolve: (given: Option.Option<string>) => Effect.Effect<A, UsageError>
  /** As `resolve`, but returns none if there is no value. */
  readonly resolveOption: (given: Option.Option<string>) => Effect.Effect<Option.Option<A>, UsageError>
}

export const make = <A>(options: {
  readonly name: string
  readonly metavar: string
  readonly description: string
  /** Undefined if the setting has no default. */
  readonly default: string | undefined
  /** Completes the message "expected …". */
  readonly expected: string
  readonly parse: (text: string) => Option.Option<A>
  /** A more specific message for an invalid value than `expected`. */
  readonly explain?: (text: string) => string | undefined
  /** Redacts an invalid value for its message. */
  readonly redact?: (text: string) => string
}): Setting<A> => {
  const variable = `TACHOGRAPH_${options.name.toUpperCase().replaceAll("-", "_")}`
  const defaultText = options.default === undefined ? "" : `; default ${options.default}`
  const resolveOption = (given: Option.Option<string>): Effect.Effect<Option.Option<A>, UsageError> => {
    const [source, text] = Option.match(given, {
      onSome: (text) => [`--${options.name}`, text] as const,
      onNone: () => [variable, process.env[variable] || options.default] as const
    })
    if (text === undefined) return Effect.succeed(Option.none())
    const value = options.parse(text)
    if (Option.isSome(value)) return Effect.succeed(value)
    const shown = JSON.stringify(options.redact === undefined ? text : options.redact(text))
    const reason = options.explain?.(text) ?? `expected ${options.expected}`
    return Effect.fail(new UsageError({ message: `${source} is ${shown}: ${reason}` }))
  }
  return {
    flag: Flag.String(options.name).pipe(
      Flag.withMetavar(options.metavar),
      Flag.withDescription(`${options.description} (${variable}${defaultText})`),
      Flag.optional
    ),
    resolve: (given) =>
      Effect.flatMap(resolveOption(given), (value) =>
        Effect.mapError(
          Effect.fromOption(value),
          () => new UsageError({ message: `--${options.name} is missing: expected ${options.expected}` })
        )
      ),
    resolveOption
  }
}
