/** Parses the command line of a benchmark program, prints the machine, and runs the selected benchmarks. */
import { cpus } from "node:os"
import { parseArgs } from "node:util"
import * as Databases from "./Databases.ts"
import type { Options } from "./Options.ts"
import * as Recording from "./Recording.ts"
import { integer, megabytes, progress } from "./Table.ts"
import * as Workload from "./Workload.ts"

interface NumberOption {
  readonly default: number
  readonly max: number
  readonly description: string
}

export interface Program<Name extends string> {
  /** As typed in a shell. */
  readonly command: string
  readonly description: string
  readonly benchmarks: Readonly<Record<string, (options: Options & Readonly<Record<Name, number>>) => Promise<void>>>
  /** Numeric options besides `--runs`. */
  readonly numbers: Readonly<Record<Name, NumberOption>>
  /** The default workload. */
  readonly workload: (fingerprintId: string) => Promise<Workload.Workload>
  /** Runs after all benchmarks. */
  readonly close?: () => Promise<void>
}

const runs: NumberOption = { default: 5, max: 1_000, description: "Repetitions of each timed measurement" }

const usage = (message: string): never => {
  console.error(message)
  process.exit(2)
}

const help = ({ command, description, benchmarks, numbers }: Program<string>): string => {
  const options: ReadonlyArray<readonly [string, string]> = [
    ["--only NAME", "Run only this benchmark; can be repeated"],
    ...Object.entries({ runs, ...numbers }).map(
      ([name, option]) => [`--${name} N`, `${option.description} (${integer(option.default)})`] as const
    ),
    ["--no-postgres", "Skip Postgres"],
    ["--help", "Print this help"]
  ]
  return [
    `${command} [OPTION...] [FILE...]`,
    description,
    ...options.map(([option, text]) => `  ${option.padEnd(16)}${text}`),
    `Benchmarks: ${Object.keys(benchmarks).join(", ")}`,
    "Each line of a FILE is the body of a Create Event request."
  ].join("\n")
}

const parse = (names: ReadonlyArray<string>) => {
  try {
    return parseArgs({
      allowPositionals: true,
      allowNegative: true,
      options: {
        help: { type: "boolean", default: false },
        postgres: { type: "boolean", default: true },
        only: { type: "string", multiple: true, default: [] },
        ...Object.fromEntries(names.map((name) => [name, { type: "string" as const }]))
      }
    })
  } catch (error) {
    return usage(`${(error as Error).message} (see --help)`)
  }
}

const numberOf = (name: string, { default: defaultValue, max }: NumberOption, text: unknown): number => {
  const number = text === undefined ? defaultValue : Number(text)
  if (Number.isInteger(number) && number >= 1 && number <= max) return number
  return usage(`--${name} is ${JSON.stringify(text)}: expected a whole number from 1 to ${integer(max)}`)
}

export const run = async <Name extends string>(program: Program<Name>): Promise<void> => {
  const options: Readonly<Record<string, NumberOption>> = { runs, ...program.numbers }
  const { positionals, values } = parse(Object.keys(options))
  if (values.help) return console.log(help(program))
  const numbers = Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      numberOf(name, option, (values as Readonly<Record<string, unknown>>)[name])
    ])
  ) as Record<Name | "runs", number>
  const names = values.only.length === 0 ? Object.keys(program.benchmarks) : values.only
  for (const name of names) {
    if (!Object.hasOwn(program.benchmarks, name)) {
      usage(`--only is ${JSON.stringify(name)}: expected one of ${Object.keys(program.benchmarks).join(", ")}`)
    }
  }

  const fingerprintId = await Recording.fingerprintId()
  const workloads: Array<Workload.Workload> = []
  for (const file of positionals) workloads.push(await Workload.read(file, fingerprintId))
  if (workloads.length === 0) workloads.push(await program.workload(fingerprintId))
  const postgres = values.postgres ? await Databases.startPostgres() : undefined

  const [cpu] = cpus()
  console.log([program.command, ...process.argv.slice(2)].join(" "))
  console.log(
    `${cpus().length} × ${cpu?.model ?? "unknown processor"}, Node ${process.version}, SQLite ${process.versions.sqlite}, ` +
      (postgres === undefined ? "no Postgres" : `PostgreSQL ${postgres.version}`)
  )
  for (const { bodies, bytes, name } of workloads) {
    console.log(`${name}: ${integer(bodies.length)} events, ${megabytes(bytes, 1)} MB of bodies`)
  }

  try {
    for (const name of names) {
      progress(name)
      try {
        await program.benchmarks[name]!({ workloads, postgres, ...numbers })
      } catch (error) {
        // The other benchmarks still run.
        console.error(`${name} failed:`, error)
        process.exitCode = 1
      }
    }
  } finally {
    await program.close?.()
    await postgres?.remove()
  }
}
