/**
 * Looks at all that a project has in a storage, and says what is wrong with it: pieces that are named and not there, or
 * there and not reached, shared pieces without an owner, counters that do not add up, events that cannot be read. For a
 * storage in which nothing happens meanwhile. `TableCheck` finds what does not show through the port.
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
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { maxPack } from "../storage/Cases.ts"
import * as Format from "./Format.ts"
import { type Checked, foundIn, type Packs, SessionCheck, sum } from "./SessionCheck.ts"

type Service = Storage["Service"]
type Result<A> = Effect.Effect<A, Errors.StorageUnavailable>

export interface Findings {
  /** Empty where all is well. */
  readonly problems: ReadonlyArray<string>
  /** `digestOf` the two texts of every event. */
  readonly events: ReadonlyMap<EventId, string>
  readonly sessions: number
  /** Pieces in packs, and shared ones. */
  readonly pieces: number
  /** What packs and shared pieces take. */
  readonly bytes: number
}

export const digestOf = (inputs: Uint8Array, output: Uint8Array): string =>
  createHash("sha256").update(inputs).update("\n").update(output).digest("hex")

/** All events of a project, the oldest first. */
export const listAll: (storage: Service, project: ProjectId) => Result<ReadonlyArray<EventSummary>> = Effect.fnUntraced(
  function* (storage, project) {
    const found: Array<EventSummary> = []
    for (;;) {
      const page = yield* storage.listEvents(project, { order: "asc", limit: 1000, after: found.at(-1)?.id })
      if (page.length === 0) return found
      found.push(...page)
    }
  }
)

/** A session as a sweep sees it, changed in nothing. */
export const readSession: (
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

/** `forbidden` are strings that must occur in no text. */
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
      if (state === undefined) say(`session ${session} has events and is not there`)
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
        say(`session ${number} is not there`)
        continue
      }
      const check = new SessionCheck(found.state, found.packs, say)
      const checked = check.check(!pendingSweep.has(number), forbidden)
      totals.push(checked)

      const missing = Array.from(checked.shared).filter((name) => !shared.has(name))
      for (const { bytes, sha256 } of yield* storage.readShared(project, missing.map(fromHex))) {
        const name = Buffer.from(sha256).toString("hex")
        const text = Format.sharedText(bytes)
        if (createHash("sha256").update(text).digest("hex") !== name) say(`shared piece ${name} is another text`)
        for (const each of foundIn(text, forbidden)) say(`shared piece ${name} holds ${each}`)
        shared.set(name, text)
        sharedBytes.set(name, bytes.length)
      }
      for (const name of checked.shared)
        if (!shared.has(name)) say(`session ${number} names ${name}, which is not there`)

      const own = (session !== undefined && bySession.get(session)) || []
      const kept = new Set(found.packs.filter(({ isKept }) => isKept).map((pack) => pack.number))
      for (const { id, inputsBytes, outputBytes } of own) {
        const event = yield* Effect.orDie(storage.getEvent(project, id))
        if (!kept.delete(event.pack.number)) say(`event ${id} has no pack of its own`)
        try {
          const [inputs, output] = check.textsOf(event.pack, shared)
          if (inputs.length !== inputsBytes || output.length !== outputBytes) say(`event ${id} is of another length`)
          events.set(id, digestOf(inputs, output))
        } catch (error) {
          say(`event ${id} cannot be read: ${error}`)
        }
      }
      for (const pack of kept) say(`session ${number}: pack ${pack} is kept without an event`)

      const counted = usage.sessions.find((each) => each.session === session)
      const expected = {
        session,
        events: own.length,
        sentBytes: sum(own.map((each) => each.inputsBytes + each.outputBytes)),
        newBytes: checked.newBytes,
        storedBytes: checked.storedBytes
      }
      if (session !== undefined && !same(counted, expected)) say(told("usage of a session", counted, expected))
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
    if (!same(counted, expected)) say(told("usage", counted, expected))
    const agents = Map.groupBy(summaries, ({ agent }) => agent)
    for (const { agent, events, sentBytes } of usage.agents) {
      const own = agents.get(agent) ?? []
      const total = sum(own.map((each) => each.inputsBytes + each.outputBytes))
      if (events !== own.length || sentBytes !== total)
        say(`usage of agent ${agent}: ${events} events, ${sentBytes} bytes`)
      agents.delete(agent)
    }
    for (const agent of agents.keys()) say(`usage knows nothing of agent ${agent}`)
    for (const kind of ["newBytes", "storedBytes"] as const) {
      const total = sum(usage.agents.map((each) => each[kind]))
      if (total !== usage[kind] - usage.shared[kind]) say(`usage: agents have ${total} ${kind} together`)
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

/** Members in one order, so that texts compare. */
const sorted = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, of]) => [key, sorted(of)])
      )
    : value

const told = (what: string, counted: unknown, expected: unknown) =>
  `${what} is ${JSON.stringify(counted)}, counted anew ${JSON.stringify(expected)}`
