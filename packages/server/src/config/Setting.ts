/**
 * A command line option that is also an environment variable: `--max-body` and `TACHOGRAPH_MAX_BODY`. The option takes
 * precedence. The error for an invalid value names where the value came from.
 */
import { nearest } from "@tachograph/capture/Spelling"
import { Flag } from "effect/cli"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { UsageError } from "../terminal/CliErrors.ts"

const prefix = "TACHOGRAPH_"

export interface Setting<A> {
  /** The option or the variable that gives a value; undefined where only the default does. */
  readonly sourceOf: (given: Option.Option<string>) => string | undefined
  /** For the flags of a command. */
  readonly flag: Flag.Flag<Option.Option<string>>
  /** The value of the option, the environment variable or the default. Fails if there is none. */
  readonly resolve: (given: Option.Option<string>) => Effect.Effect<A, UsageError>
  /** As `resolve`, but returns none if there is no value. */
  readonly resolveOption: (given: Option.Option<string>) => Effect.Effect<Option.Option<A>, UsageError>
}

/** The variables of all settings. */
const variables = new Set<string>()

const variableOf = (name: string): string => {
  const variable = `${prefix}${name.toUpperCase().replaceAll("-", "_")}`
  variables.add(variable)
  return variable
}

/** Of the client, and near one of these: it may be set as well. */
const ofClient = `${prefix}SESSION`

/** What to say of variables whose names are nearly those of settings: nothing reads them. */
export const misspelt = (env: NodeJS.ProcessEnv): ReadonlyArray<string> =>
  Object.keys(env).flatMap((name) => {
    if (!name.startsWith(prefix) || variables.has(name) || name === ofClient) return []
    const names = Array.from(variables, (each) => each.slice(prefix.length))
    const near = nearest(name.slice(prefix.length), names)
    return near === undefined ? [] : [`${name} is not known (did you mean ${prefix}${near}?)`]
  })

/** The words that Effect's command line takes for a switch, as in `--proxy=on`. */
const switchWords: Readonly<Record<string, boolean>> = {
  ...{ yes: true, y: true, true: true, on: true, 1: true },
  ...{ no: false, n: false, false: false, off: false, 0: false }
}

/** One rule for options and variables. */
export const parseSwitch = (text: string): Option.Option<boolean> =>
  Option.fromUndefinedOr(Object.hasOwn(switchWords, text) ? switchWords[text] : undefined)

/** An option without a value: `--proxy`, or the variable with `yes`; `--no-proxy`, or `no`. */
export const makeSwitch = ({ description, name }: { readonly name: string; readonly description: string }) => {
  const variable = variableOf(name)
  return {
    flag: Flag.Boolean(name).pipe(Flag.withDescription(`${description} (${variable}: yes or no)`), Flag.optional),
    /** The option or the variable that switches it on; undefined where it is off. */
    sourceOf: (given: Option.Option<boolean>): string | undefined => {
      if (Option.isSome(given)) return given.value ? `--${name}` : undefined
      return Option.contains(parseSwitch(process.env[variable] ?? ""), true) ? variable : undefined
    },
    resolve: (given: Option.Option<boolean>): Effect.Effect<boolean, UsageError> => {
      if (Option.isSome(given)) return Effect.succeed(given.value)
      const text = process.env[variable] || "no"
      const message = `${variable} is ${JSON.stringify(text)}: expected yes or no`
      return Effect.mapError(Effect.fromOption(parseSwitch(text)), () => new UsageError({ message }))
    }
  }
}

/** A secret, which only the environment has: other users of the machine can read command lines. */
export const makeSecret = (name: string) => {
  const variable = variableOf(name)
  return {
    variable,
    resolve: Effect.sync((): Redacted.Redacted | undefined => {
      const text = process.env[variable]
      return text ? Redacted.make(text) : undefined
    })
  }
}

/** An option that may occur several times. The variable has several values, with white space between them. */
export const makeRepeatable = <A>(options: {
  readonly name: string
  readonly metavar: string
  readonly description: string
  /** Completes the message "expected …". */
  readonly expected: string
  readonly parse: (text: string) => Option.Option<A>
  /** An invalid value as its message may show it: it may hold a password. */
  readonly redact: (text: string) => string
}) => {
  const { description, expected, metavar, name, parse, redact } = options
  const variable = variableOf(name)
  const textsIn = (text = "") => text.split(/\s+/).filter((text) => text !== "")
  return {
    /** As for other settings. */
    sourceOf: (given: ReadonlyArray<string>): string | undefined => {
      if (given.length > 0) return `--${name}`
      return textsIn(process.env[variable]).length > 0 ? variable : undefined
    },
    flag: Flag.String(name).pipe(
      Flag.withMetavar(metavar),
      Flag.withDescription(`${description} (${variable}: several, with spaces between them)`),
      Flag.atLeast(0)
    ),
    resolve: (given: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<A>, UsageError> => {
      const source = given.length > 0 ? `--${name}` : variable
      const texts = given.length > 0 ? given : textsIn(process.env[variable])
      return Effect.forEach(texts, (text) =>
        Effect.mapError(
          Effect.fromOption(parse(text)),
          () => new UsageError({ message: `${source} has ${JSON.stringify(redact(text))}: expected ${expected}` })
        )
      )
    }
  }
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
  const variable = variableOf(options.name)
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
    sourceOf: (given) => {
      if (Option.isSome(given)) return `--${options.name}`
      return process.env[variable] ? variable : undefined
    },
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
