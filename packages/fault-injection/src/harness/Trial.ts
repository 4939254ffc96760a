/** Runs one fault on one storage. */
import * as Ledger from "./Ledger.ts"
import * as Load from "./Load.ts"
import * as Random from "./Random.ts"
import * as Server from "./Server.ts"
import type { Kind, Store } from "./Store.ts"

export interface Fault {
  readonly name: string
  /** One line: what is done, and what must hold afterwards. */
  readonly promise: string
  readonly storages: ReadonlyArray<Kind>
  /** Default number of rounds. */
  readonly rounds: number
  readonly run: (trial: Trial) => Promise<void>
}

/** The fault is skipped: the machine or the server lacks something that it needs. */
export class MissingRequirement extends Error {}

export interface Settings {
  readonly command: string
  readonly seed: number
  readonly rounds: number
  /** How long a frozen database stays frozen. */
  readonly seconds: number
}

export interface Report {
  readonly rounds: number
  readonly acknowledged: number
  readonly refused: number
  readonly unknown: number
  readonly found: number
  readonly refusedButFound: number
  readonly notes: ReadonlyArray<string>
  readonly violations: ReadonlyArray<string>
  /** The missing requirement. */
  readonly skipped: string | undefined
}

interface Trial extends Settings {
  readonly store: Store
  readonly random: (...labels: Random.Labels) => Random.Random
  /** Starts a server on the trial's storage, or on another URL of it. */
  readonly serve: (
    options?: Partial<Pick<Server.Options, "command" | "storage" | "wrapper" | "env">>
  ) => Promise<Server.Server>
  /** Starts a load. Its refusals are violations unless they are 503 with `Retry-After`. */
  readonly load: (server: Server.Server, options: Load.Options) => Promise<Load.Load>
  /** Runs the rounds one after the other. An exception ends the fault as a violation. */
  readonly eachRound: (round: (number: number) => Promise<void>) => Promise<void>
  /** Events to compare with the storage after the last round. */
  readonly sent: (entries: ReadonlyArray<Ledger.Entry>) => void
  /** Reports a violation unless `holds`. */
  readonly expect: (holds: boolean, violation: string) => void
  /** Adds a measurement to the report. */
  readonly note: (text: string) => void
  /** Runs when the fault ends, or the program exits. */
  readonly after: (cleanup: () => void) => void
}

/** The API key of the servers under test. */
const key = "a key for the fault tests"

const count = (entries: ReadonlyArray<Ledger.Entry>, kind: Ledger.Outcome["kind"]) =>
  entries.filter(({ outcome }) => outcome.kind === kind).length

export const run = async (
  fault: Fault,
  store: Store,
  settings: Settings,
  progress: (text: string) => void
): Promise<Report> => {
  const notes: Array<string> = []
  const violations: Array<string> = []
  const servers = new Set<Server.Server>()
  const cleanups: Array<() => void> = []
  const all: Array<Ledger.Entry> = []
  let rounds = 0
  let result: Ledger.Result | undefined
  let skipped: string | undefined

  const serve: Trial["serve"] = async (options) => {
    const server = await Server.start({ command: settings.command, storage: store.url, key, ...options })
    servers.add(server)
    return server
  }
  const check = async () => {
    const server = await serve()
    const reader = Ledger.readerOf(server)
    return Ledger.check(reader, all).finally(reader.close)
  }
  const trial: Trial = {
    ...settings,
    store,
    random: (...labels) => Random.of(settings.seed, fault.name, store.kind, ...labels),
    serve,
    load: async (server, options) => {
      const load = await Load.start(server, { ...options, name: `${fault.name} ${options.name}` })
      const stop = async () => {
        const entries = await load.stop()
        for (const wrong of Ledger.wrongRefusals(entries)) violations.push(`${options.name}: ${wrong}`)
        return entries
      }
      return { ...load, stop }
    },
    eachRound: async (round) => {
      for (let number = 1; number <= settings.rounds; number++) {
        progress(`${fault.name} on ${store.kind}, ${number} of ${settings.rounds}`)
        await round(number)
        rounds++
      }
    },
    sent: (entries) => {
      all.push(...entries)
    },
    expect: (holds, violation) => {
      if (!holds) violations.push(violation)
    },
    note: (text) => notes.push(text),
    after: (cleanup) => {
      process.prependOnceListener("exit", cleanup)
      cleanups.push(cleanup)
    }
  }

  try {
    await fault.run(trial)
    for (const server of servers) await server.kill()
    // A new server reads everything from the storage: its caches are empty.
    result = await check()
    violations.push(...result.violations)
    for (const problem of await store.problems()) violations.push(`integrity_check: ${problem}`)
  } catch (error) {
    if (error instanceof MissingRequirement) skipped = error.message
    else {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      violations.push(`round ${rounds + 1}: ${text}`)
    }
  } finally {
    for (const server of servers) await server.kill()
    for (const cleanup of cleanups) {
      process.off("exit", cleanup)
      cleanup()
    }
  }
  const byReason = Map.groupBy(all, ({ outcome }) => (outcome.kind === "acknowledged" ? "" : outcome.reason))
  for (const [reason, entries] of byReason) {
    if (reason !== "") notes.push(`${entries.length} × ${reason}`)
  }
  return {
    rounds,
    acknowledged: count(all, "acknowledged"),
    refused: count(all, "refused"),
    unknown: count(all, "unknown"),
    found: result?.found ?? 0,
    refusedButFound: result?.refusedButFound ?? 0,
    notes,
    violations,
    skipped
  }
}
