/**
 * Checks all data of a project in a storage: missing or unreachable pieces, shared pieces without an owner, wrong counters,
 * unreadable events. The storage must be idle. `TableCheck` finds problems that the storage port does not show.
 */
import {
  type Errors,
  type EventId,
  type EventSummary,
  type ProjectId,
  type SessionId,
  type SessionState,
  type Storage
} from "@tachograph/core"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { maxPack } from "../Samples.ts"
import * as Format from "./Format.ts"
import { type Checked, foundIn, type Packs, SessionCheck, sum } from "./SessionCheck.ts"

type Service = Storage["Service"]
type Result<A> = Effect.Effect<A, Errors.StorageUnavailable>

export interface Findings {
  /** Empty if the storage is consistent. */
  readonly problems: ReadonlyArray<string>
  /** The `digestOf` each event's texts. */
  readonly events: ReadonlyMap<EventId, string>
  readonly sessions: number
  /** Pieces in packs, and shared pieces. */
  readonly pieces: number
  /** Stored bytes of packs and shared pieces. */
  readonly bytes: number
}

export const digestOf = (inputs: Uint8Array, output: Uint8Array): string =>
  createHash("sha256").update(inputs).update("\n").update(output).digest("hex")

/** Lists all events of a project, oldest first. */
export const listAll: (storage: Service, project: ProjectId) => Result<ReadonlyArray<EventSummary>> = Effect.fnUntraced(
  function* (storage, project) {
    const found: Array<EventSummary> = []
    for (;;) {
      const page = yield* storage.listEvents(project, { order: "asc", limit: 1000, after: found.at(-1)?.id })
      if (page.length === 0) return found
      found.push(...page.map(({ summary }) => summary!))
    }
  }
)

/** Reads a session through a sweep that changes nothing. */
const readSession: (
  storage: Service,
  project: ProjectId,
  session: number
) => Result<{ readonly state: SessionState; readonly packs: Packs } | undefined> = Effect.fnUntraced(
  function* (storage, project, session) {
    const all: Array<Packs> = []
    for (let to = maxPack; ;) {
      const request = { to, limit: 100_000, above: maxPack - 1 }
      const step = yield* storage.sweepPacks(project, session, request, (value) => ({
        packs: [],
        pieces: 0,
        done: undefined,
        value
      }))
      if (step === undefined) return undefined
      all.unshift(step.value.packs)
      if (step.value.isLast) return { state: step.value.state, packs: all.flat() }
      to = step.value.packs[0]!.number - 1
    }
  }
)

/** Checks a project. No text may contain one of the `forbidden` strings. */
export const look: (storage: Service, project: ProjectId, forbidden?: ReadonlyArray<string>) => Result<Findings> =
  Effect.fnUntraced(function* (storage, project, forbidden = []) {
    const problems: Array<string> = []
    const say = (problem: string) => void problems.push(problem)
    const summaries = yield* listAll(storage, project)
    const bySession = Map.groupBy(summaries, ({ session }) => session)
    const pendingSweep = new Set(yield* storage.listPendingSweep(project, 1_000_000))
    const numbers = new Map<number, SessionId | undefined>(Array.from(pendingSweep, (number) => [number, undefined]))
    for (const session of bySession.keys()) {
      const state = yield* storage.getSession(project, session)
      if (state === undefined) say(`session ${session} has events, but does not exist`)
      else numbers.set(state.number, session)
    }

    const usage = yield* storage.usage(project, 1_000_000)
    const shared = new Map<string, Buffer>()
    const sharedBytes = new Map<string, number>()
    const events = new Map<EventId, string>()
    const totals: Array<Checked> = []
    for (const [number, session] of numbers) {
      const found = yield* readSession(storage, project, number)
      if (found === undefined) {
        say(`session ${number} does not exist`)
        continue
      }
      const check = new SessionCheck(found.state, found.packs, say)
      const checked = check.check(!pendingSweep.has(number), forbidden)
      totals.push(checked)

      const missing = Array.from(checked.shared).filter((name) => !shared.has(name))
      for (const { bytes, sha256 } of yield* storage.readShared(project, missing.map(fromHex))) {
        const name = Buffer.from(sha256).toString("hex")
        const text = Format.sharedText(bytes)
        if (createHash("sha256").update(text).digest("hex") !== name) say(`shared piece ${name} has another hash`)
        for (const each of foundIn(text, forbidden)) say(`shared piece ${name} contains ${each}`)
        shared.set(name, text)
        sharedBytes.set(name, bytes.length)
      }
      for (const name of checked.shared)
        if (!shared.has(name)) say(`session ${number} refers to the missing shared piece ${name}`)

      const own = (session !== undefined && bySession.get(session)) || []
      const kept = new Set(found.packs.filter(({ isKept }) => isKept).map((pack) => pack.number))
      for (const { id, inputsBytes, outputBytes } of own) {
        const event = yield* Effect.orDie(storage.getEvent(project, id))
        if (!kept.delete(event.pack.number)) say(`event ${id} has no pack of its own`)
        try {
          const [inputs, output] = check.textsOf({ number: event.pack.number, bytes: event.pack.bytes! }, shared)
          if (inputs.length !== inputsBytes || output.length !== outputBytes) say(`event ${id} has another length`)
          events.set(id, digestOf(inputs, output))
        } catch (error) {
          say(`event ${id} cannot be read: ${error}`)
        }
      }
      for (const { pack } of yield* storage.listSteps(project, number, undefined, 1_000_000)) kept.delete(pack)
      for (const pack of kept) say(`session ${number}: pack ${pack} is kept without an event`)

      const counted = usage.sessions.find((each) => each.session === session)
      const expected = {
        session,
        events: own.length,
        sentBytes: sum(own.map((each) => each.inputsBytes + each.outputBytes)),
        newBytes: checked.newBytes,
        storedBytes: checked.storedBytes
      }
      if (session !== undefined && !same(counted, expected)) say(mismatch("usage of a session", counted, expected))
    }

    const expected = {
      events: summaries.length,
      sentBytes: sum(summaries.map((each) => each.inputsBytes + each.outputBytes)),
      newBytes: sum(totals.map(({ newBytes }) => newBytes)) + sum(Array.from(shared.values(), ({ length }) => length)),
      storedBytes: sum(totals.map(({ storedBytes }) => storedBytes)) + sum(sharedBytes.values()),
      shared: {
        pieces: shared.size,
        newBytes: sum(Array.from(shared.values(), ({ length }) => length)),
        storedBytes: sum(sharedBytes.values())
      }
    }
    const { agents: _agents, sessions: _sessions, ...counted } = usage
    if (!same(counted, expected)) say(mismatch("usage", counted, expected))
    const agents = Map.groupBy(summaries, ({ agent }) => agent)
    for (const { agent, events, sentBytes } of usage.agents) {
      const own = agents.get(agent) ?? []
      const total = sum(own.map((each) => each.inputsBytes + each.outputBytes))
      if (events !== own.length || sentBytes !== total)
        say(`usage of agent ${agent} is wrong: ${events} events, ${sentBytes} bytes`)
      agents.delete(agent)
    }
    for (const agent of agents.keys()) say(`usage has no entry for agent ${agent}`)
    for (const kind of ["newBytes", "storedBytes"] as const) {
      const total = sum(usage.agents.map((each) => each[kind]))
      if (total !== usage[kind] - usage.shared[kind])
        say(`usage: the ${kind} of all agents are ${total}, instead of the total without shared pieces`)
    }

    return {
      problems,
      events,
      sessions: bySession.size,
      pieces: sum(totals.map(({ pieces }) => pieces)) + shared.size,
      bytes: expected.storedBytes
    }
  })

const fromHex = (name: string): Buffer => Buffer.from(name, "hex")

const same = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))

/** Sorts the members, so that equal values have equal texts. */
const sorted = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, of]) => [key, sorted(of)])
      )
    : value

const mismatch = (what: string, counted: unknown, expected: unknown) =>
  `${what} is ${JSON.stringify(counted)} instead of ${JSON.stringify(expected)}`
