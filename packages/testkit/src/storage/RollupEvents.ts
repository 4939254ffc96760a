/** Events to be added up, whose sessions, agents and people come and go, and what reads and derives them. */
import {
  AgentName,
  AgentVersionName,
  type AppendEvent,
  EventId,
  type EventSummary,
  firstIdOf,
  MemoryStorage,
  PersonId,
  type SessionFilter,
  SessionId,
  type SessionPlace,
  type SessionQuery,
  Storage,
  type StoredSession
} from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect } from "vitest"
import { append, appendEvent, project } from "../Samples.ts"

export type Port = Storage["Service"]

/** Two hours before a week begins, in the days before summer time ends in Europe. */
export const beginMs = Date.UTC(2026, 9, 21, 22, 7)

export const idAt = (ms: number, n: number): EventId =>
  EventId.make(firstIdOf(ms).slice(0, 24) + n.toString(16).padStart(12, "0"))

/** A number from 0 to `below`, which depends on `n` and `salt` only. */
const pick = (n: number, salt: number, below: number): number => (((n + 1) * (salt * 7919 + 104_729)) % 9973) % below

/** The model that answers. */
const answering = (model: string | null, n: number): string | null => {
  if (model === "m1") return "m1-dated"
  return model === null && n % 2 === 0 ? "m3" : model
}

/** The nth event: sessions come and go, with one agent and person or several. */
export const fieldsOf = (n: number): Partial<EventSummary> => {
  const session = Math.floor(n / 40) * 5 + pick(n, 1, 7)
  const isFailed = pick(n, 2, 9) === 0
  const model = [null, "m1", "m2", "é"][pick(session, 3, 4)]!
  return {
    session: SessionId.make(`s${session}`),
    agent: AgentName.make(`a${pick(session + (n % 11 === 0 ? n : 0), 4, 3)}`),
    agentVersion: AgentVersionName.make(`v${pick(n, 5, 2)}`),
    person: pick(session, 6, 4) === 0 ? null : PersonId.make(`p${pick(session + (n % 13 === 0 ? 1 : 0), 7, 5)}`),
    api: pick(session, 8, 2) === 0 ? "aisdk" : "provider1-responses",
    model,
    responseModel: answering(model, n),
    inputTokens: n,
    outputTokens: isFailed ? null : 10 * n,
    cacheReadTokens: n % 3 === 0 ? 3 : null,
    reasoningTokens: n % 5 === 0 ? 5 : null,
    errorType: isFailed ? "overloaded" : null,
    costUsd: isFailed ? null : 1_000_000_007 * n,
    unpricedParts: n % 7 === 0 ? ["audio"] : null,
    statedCostUsd: n % 14 === 0 ? 1_000_000_007 * n : null,
    durationMs: n % 4 === 0 ? null : 100 + 3 * n
  }
}

export const eventOf = (n: number): AppendEvent => {
  const ms = beginMs + n * (27 * 60_000 + 7_001)
  return appendEvent(idAt(ms, n), { ...fieldsOf(n), receivedAt: DateTime.makeUnsafe(ms) })
}

export const eventsOf = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => eventOf(from + n))

/** Enough that whole days, the end of summer time and half a day after it are among them. */
export const count = 200
const batches = 3

export const fill = Effect.fnUntraced(function* (storage: Port, from = 0, to = count) {
  const step = Math.ceil((to - from) / batches)
  for (let at = from; at < to; at += step) yield* append(storage, eventsOf(at, Math.min(to, at + step)))
})

export const deriveAll = Effect.fnUntraced(function* (storage: Port, limit: number, upTo = eventOf(count).summary.id) {
  while ((yield* storage.deriveEvents(project, upTo, limit)) === limit);
})

export const timeAt = (n: number) => DateTime.toEpochMillis(eventOf(n).summary.receivedAt)

export const allSessions = Effect.fnUntraced(function* (
  storage: Port,
  filter: SessionFilter & Pick<SessionQuery, "fromMs" | "toMs">,
  order: "asc" | "desc",
  limit: number
) {
  const rows: Array<StoredSession> = []
  let after: SessionPlace | undefined
  do {
    const page = yield* storage.listSessions(project, { ...filter, order, limit, after })
    expect(page.rows.length).toBeLessThanOrEqual(limit)
    rows.push(...page.rows)
    after = page.next
  } while (after !== undefined)
  return rows
})

/** Runs with a storage in memory of its own. */
export const inMemory = <A, E>(body: (memory: Port) => Effect.Effect<A, E>) =>
  Effect.provide(Effect.flatMap(Storage, body), Layer.fresh(MemoryStorage.layer))
