/**
 * Fills a store with a month of calls, quickly: sessions of 10 calls, half a minute apart, of some agents, versions, models and
 * people. What a call holds is recorded once, and copied.
 */
import {
  AgentName,
  AgentVersionName,
  type AppendEvent,
  checksumOfSummary,
  EventId,
  EventSummary,
  firstIdOf,
  MemoryStorage,
  PersonId,
  SessionId,
  Storage
} from "@tachograph/core"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Recording from "./Recording.ts"

const eventsPerSession = 10
const sessionsPerBatch = 200

const people = 2_000
const agents = 4
const versions = 3
const models = ["gpt-4o", "gpt-4o-mini", "claude-sonnet-4"]

const dayMs = 24 * 60 * 60_000
const days = 30
const callMs = 30_000

/** The last day is over. */
export const endMs = Date.UTC(2026, 9, 1)
export const beginMs = endMs - days * dayMs

/** The same pseudo-random number from 0 to 1 for the same `n` and `salt`. */
const random = (n: number, salt: number): number => {
  let hash = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39)
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32
}

const pick = (n: number, salt: number, below: number): number => Math.floor(random(n, salt) * below)

const bodyOf = (n: number, fingerprintId: string) => {
  const messages = Array.from({ length: 2 * n + 1 }, (_, m) => ({
    role: m % 2 === 0 ? "user" : "assistant",
    content: m % 2 === 0 ? `What is ${m} times 7, in words?` : `It is ${7 * m - 7}, in words.`
  }))
  return Buffer.from(
    JSON.stringify({
      event_name: "llm",
      fingerprint_id: fingerprintId,
      session: "template",
      properties: {
        api: "provider1-chat-completions",
        inputs: { model: "gpt-4o", messages },
        output: {
          model: "gpt-4o",
          choices: [{ message: { role: "assistant", content: `It is ${14 * n}, in words.` }, finish_reason: "stop" }],
          usage: { prompt_tokens: 20 + 12 * n, completion_tokens: 8, total_tokens: 28 + 12 * n }
        }
      }
    })
  )
}

/** The arguments of `appendEvents` for the calls of a session. */
const templateOf = async (): Promise<ReadonlyArray<AppendEvent>> => {
  const appends: Array<AppendEvent> = []
  const capturing = Layer.effect(
    Storage,
    Effect.map(Storage, (storage) => ({
      ...storage,
      appendEvents: (batch: ReadonlyArray<AppendEvent>) => {
        appends.push(...batch)
        return storage.appendEvents(batch)
      }
    }))
  ).pipe(Layer.provide(MemoryStorage.layer))
  const recording = await Recording.open(capturing)
  const fingerprintId = await Recording.fingerprintId()
  for (let n = 0; n < eventsPerSession; n++) await recording.record(bodyOf(n, fingerprintId))
  await recording.close()
  return appends
}

const summaryOf = (template: EventSummary, session: number, call: number, startMs: number): EventSummary => {
  const n = session * eventsPerSession + call
  const timeMs = startMs + call * callMs
  const suffix = Math.floor(random(n, 1) * 2 ** 48)
  const isFailed = random(n, 2) < 0.02
  const model = models[pick(session, 3, models.length)]!
  return new EventSummary(
    {
      ...template,
      id: EventId.make(firstIdOf(timeMs).slice(0, 24) + suffix.toString(16).padStart(12, "0")),
      receivedAt: DateTime.makeUnsafe(timeMs),
      session: SessionId.make(`session ${session}`),
      agent: AgentName.make(`agent ${pick(session, 4, agents)}`),
      agentVersion: AgentVersionName.make(`v${1 + Math.floor((versions * (startMs - beginMs)) / (endMs - beginMs))}`),
      person: PersonId.make(`person ${pick(session, 5, people)}`),
      model,
      responseModel: model,
      durationMs: Math.round(400 * Math.exp(3 * random(n, 6))),
      errorType: isFailed ? "overloaded_error" : null,
      costUsd: isFailed ? null : 1_000 * pick(n, 7, 20_000)
    },
    { disableChecks: true }
  )
}

/** Sessions by the time at which they start. */
const startsOf = (sessions: number): ReadonlyArray<readonly [session: number, startMs: number]> => {
  const lastStart = endMs - beginMs - eventsPerSession * callMs
  return Array.from({ length: sessions }, (_, n) => [n, beginMs + Math.floor(random(n, 8) * lastStart)] as const).sort(
    ([, a], [, b]) => a - b
  )
}

/** Appends about this many events. Calls `onBatch` with how many there are. */
export const fill = async (
  storage: Storage["Service"],
  events: number,
  onBatch: (written: number) => void
): Promise<void> => {
  const template = await templateOf()
  const starts = startsOf(Math.ceil(events / eventsPerSession))
  for (let at = 0; at < starts.length; at += sessionsPerBatch) {
    const batch = starts.slice(at, at + sessionsPerBatch).flatMap(([session, startMs]) =>
      template.map(({ pack, ...append }, call) => {
        const summary = summaryOf(append.summary, session, call, startMs)
        return {
          ...append,
          summary,
          checksums: { ...append.checksums, summary: checksumOfSummary(append.project, summary) },
          pack: { ...pack, session: undefined },
          // It was given for another storage.
          hasNewId: false
        }
      })
    )
    await Effect.runPromise(storage.appendEvents(batch))
    onBatch((at + sessionsPerBatch) * eventsPerSession)
  }
}
