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
  /** Set if it needs a store in which no other fault has happened. */
  readonly needsOwnStore?: true
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
  /** Whether loads have half the clients, which rest between events. */
  readonly isLight: boolean
}

/** What a fault has done, and what is to be compared with the storage. */
export interface Ran {
  /** That were completed. */
  readonly rounds: number
  /** Whether all were. */
  readonly isComplete: boolean
  readonly entries: ReadonlyArray<Ledger.Entry>
  readonly notes: ReadonlyArray<string>
  readonly violations: ReadonlyArray<string>
  /** The missing requirement. */
  readonly skipped: string | undefined
  /** Undoes what the fault has set up, after the comparison. */
  readonly cleanUp: () => void
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
  /** Runs when the events were compared, or the program exits. */
  readonly after: (cleanup: () => void) => void
}

/** Pause of a client after an acknowledged event of a light load (ms), unless the fault sets one: then it is doubled. */
const lightRestMs = 20

const lighter = (options: Load.Options): Load.Options => ({
  ...options,
  clients: Math.ceil(options.clients / 2),
  restMs: options.restMs === undefined ? lightRestMs : 2 * options.restMs
})

/** The API key of the servers under test. */
export const key = "a key for the fault tests"

export const run = async (
  fault: Fault,
  store: Store,
  settings: Settings,
  progress: (text: string) => void
): Promise<Ran> => {
  const notes: Array<string> = []
  const violations: Array<string> = []
  const servers = new Set<Server.Server>()
  const cleanups: Array<() => void> = []
  const all: Array<Ledger.Entry> = []
  let rounds = 0
  let isComplete = false
  let skipped: string | undefined

  const serve: Trial["serve"] = async (options) => {
    const server = await Server.start({ command: settings.command, storage: store.url, key, ...options })
    servers.add(server)
    return server
  }
  const trial: Trial = {
    ...settings,
    store,
    random: (...labels) => Random.of(settings.seed, fault.name, store.kind, ...labels),
    serve,
    load: async (server, options) => {
      const load = await Load.start(server, {
        ...(settings.isLight ? lighter(options) : options),
        name: `${fault.name} ${options.name}`
      })
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

  const cleanUp = () => {
    for (const cleanup of cleanups.splice(0)) {
      process.off("exit", cleanup)
      cleanup()
    }
  }
  try {
    await fault.run(trial)
    isComplete = true
  } catch (error) {
    if (error instanceof MissingRequirement) skipped = error.message
    else {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      violations.push(`round ${rounds + 1}: ${text}`)
    }
  } finally {
    for (const server of servers) await server.kill()
  }
  // Other faults may follow on the same database.
  if (!isComplete) cleanUp()
  return { rounds, isComplete, entries: all, notes, violations, skipped, cleanUp }
}
