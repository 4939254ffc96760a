/**
 * An option of the command line that is an environment variable too: `--max-body` and `TACHOGRAPH_MAX_BODY`. The option
 * wins; a value that does not fit is refused with the name that it came under.
 */
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { UsageError } from "../terminal/CliErrors.ts"

export interface Setting<A> {
  /** Goes into a command's flags, under any name. */
  readonly flag: Flag.Flag<Option.Option<string>>
  /** What the option, the environment or the default says. */
  readonly resolve: (given: Option.Option<string>) => Effect.Effect<A, UsageError>
  /** The same; none where nothing is said and there is no default. */
  readonly resolveOption: (given: Option.Option<string>) => Effect.Effect<Option.Option<A>, UsageError>
}

export const make = <A>(options: {
  readonly name: string
  readonly metavar: string
  readonly description: string
  /** Undefined where there is none. */
  readonly default: string | undefined
  /** Completes "expected …". */
  readonly expected: string
  readonly parse: (text: string) => Option.Option<A>
  /** What is wrong with a refused value, where more can be said than what was expected. */
  readonly complaint?: (text: string) => string | undefined
  /** How a refused value is shown. Whole, unless it may hold a secret. */
  readonly show?: (text: string) => string
}): Setting<A> => {
  const variable = `TACHOGRAPH_${options.name.toUpperCase().replaceAll("-", "_")}`
  const or = options.default === undefined ? "" : `; ${options.default} unless given`
  const resolveOption = (given: Option.Option<string>): Effect.Effect<Option.Option<A>, UsageError> => {
    const [source, text] = Option.match(given, {
      onSome: (text) => [`--${options.name}`, text] as const,
      onNone: () => [variable, process.env[variable] || options.default] as const
    })
    if (text === undefined) return Effect.succeed(Option.none())
    const value = options.parse(text)
    if (Option.isSome(value)) return Effect.succeed(value)
    const shown = JSON.stringify((options.show ?? ((_) => _))(text))
    const complaint = options.complaint?.(text) ?? `expected ${options.expected}`
    return Effect.fail(new UsageError({ message: `${source} is ${shown}: ${complaint}` }))
  }
  return {
    flag: Flag.String(options.name).pipe(
      Flag.withMetavar(options.metavar),
      Flag.withDescription(`${options.description} (${variable}${or})`),
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
