/** One fault over one storage: what its rounds need, and what comes out of them. */
import * as Ledger from "./Ledger.ts"
import * as Load from "./Load.ts"
import * as Random from "./Random.ts"
import * as Server from "./Server.ts"
import type { Kind, Store } from "./Store.ts"

export interface Fault {
  readonly name: string
  /** One line: what is done, and what must hold. */
  readonly promise: string
  readonly storages: ReadonlyArray<Kind>
  /** How often, unless said otherwise. */
  readonly rounds: number
  readonly run: (trial: Trial) => Promise<void>
}

/** This machine has not what the fault needs. */
export class LeftOut extends Error {}

export interface Settings {
  readonly command: string
  readonly seed: number
  readonly rounds: number
  /** How long what is frozen stays so. */
  readonly seconds: number
}

export interface Report {
  readonly rounds: number
  readonly acknowledged: number
  readonly refused: number
  readonly unknown: number
  readonly found: number
  readonly foundThoughRefused: number
  readonly notes: ReadonlyArray<string>
  readonly broken: ReadonlyArray<string>
  readonly leftOut: string | undefined
}

interface Trial extends Settings {
  readonly store: Store
  readonly random: (...labels: Random.Labels) => Random.Random
  /** Over the trial's storage, unless another address of it is given. */
  readonly serve: (options?: Partial<Pick<Server.Options, "storage" | "wrapper" | "env">>) => Promise<Server.Server>
  readonly load: (server: Server.Server, options: Load.Options) => Promise<Load.Load>
  /** Runs the rounds, one after the other. What is thrown ends the fault, as a broken promise. */
  readonly eachRound: (round: (number: number) => Promise<void>) => Promise<void>
  /** To be held against what is there, when the rounds are over. */
  readonly sent: (entries: ReadonlyArray<Ledger.Entry>) => void
  readonly expect: (holds: boolean, otherwise: string) => void
  readonly note: (text: string) => void
  /** To be done when the fault is over, or the program. */
  readonly after: (cleanup: () => void) => void
}

/** Worth nothing anywhere else. */
const key = "a key for the fault tests"

const count = (entries: ReadonlyArray<Ledger.Entry>, is: Ledger.Outcome["is"]) =>
  entries.filter(({ outcome }) => outcome.is === is).length

export const run = async (
  fault: Fault,
  store: Store,
  settings: Settings,
  progress: (text: string) => void
): Promise<Report> => {
  const notes: Array<string> = []
  const broken: Array<string> = []
  const servers = new Set<Server.Server>()
  const cleanups: Array<() => void> = []
  const all: Array<Ledger.Entry> = []
  let rounds = 0
  let final: Ledger.Verdict | undefined
  let leftOut: string | undefined

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
    load: (server, options) => Load.start(server, { ...options, name: `${fault.name} ${options.name}` }),
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
    expect: (holds, otherwise) => {
      if (!holds) broken.push(otherwise)
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
    // By a process that remembers nothing.
    final = await check()
    broken.push(...final.broken)
    for (const problem of await store.problems()) broken.push(`integrity_check: ${problem}`)
  } catch (error) {
    if (error instanceof LeftOut) leftOut = error.message
    else
      broken.push(`in round ${rounds + 1}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  } finally {
    for (const server of servers) await server.kill()
    for (const cleanup of cleanups) {
      process.off("exit", cleanup)
      cleanup()
    }
  }
  for (const [why, entries] of Map.groupBy(all, ({ outcome }) => (outcome.is === "acknowledged" ? "" : outcome.why))) {
    if (why !== "") notes.push(`${entries.length} × ${why}`)
  }
  return {
    rounds,
    acknowledged: count(all, "acknowledged"),
    refused: count(all, "refused"),
    unknown: count(all, "unknown"),
    found: final?.found ?? 0,
    foundThoughRefused: final?.foundThoughRefused ?? 0,
    notes,
    broken,
    leftOut
  }
}
