/**
 * An option of the command line that is an environment variable too: `--max-body` and `TACHOGRAPH_MAX_BODY`. The option
 * wins; a value that does not fit is refused with the name that it came under.
 */
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { UsageError } from "./Failure.ts"

export interface Setting<A> {
  /** Goes into a command's flags, under any name. */
  readonly flag: Flag.Flag<Option.Option<string>>
  /** What the option, the environment or the default says. */
  readonly resolve: (given: Option.Option<string>) => Effect.Effect<A, UsageError>
}

export const make = <A>(options: {
  readonly name: string
  readonly metavar: string
  readonly description: string
  /** Undefined where the setting must be given. */
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
  return {
    flag: Flag.String(options.name).pipe(
      Flag.withMetavar(options.metavar),
      Flag.withDescription(`${options.description} (${variable}${or})`),
      Flag.optional
    ),
    resolve: (given) => {
      const [source, text] = Option.match(given, {
        onSome: (text) => [`--${options.name}`, text] as const,
        onNone: () => [variable, process.env[variable] || options.default] as const
      })
      if (text === undefined) {
        return Effect.fail(new UsageError({ message: `--${options.name} is missing: expected ${options.expected}` }))
      }
      const shown = JSON.stringify((options.show ?? ((_) => _))(text))
      return Effect.mapError(Effect.fromOption(options.parse(text)), () => {
        const complaint = options.complaint?.(text) ?? `expected ${options.expected}`
        return new UsageError({ message: `${source} is ${shown}: ${complaint}` })
      })
    }
  }
}
