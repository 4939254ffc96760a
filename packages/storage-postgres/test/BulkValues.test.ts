/** Values with a meaning in the text of a Postgres array, mixed with plain ones and nulls. */
import { AgentName, AgentVersionName, PersonId, ProjectId, SessionId, SpanId, Storage, TraceId } from "@tachograph/core"
import { Samples } from "@tachograph/testkit"
import { DateTime, Effect } from "effect"
import { expect, it } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { freshSchema } from "./FreshSchema.ts"

const texts = [
  "NULL",
  "null",
  "{}",
  `{"a","b"}`,
  `"`,
  `\\`,
  `\\"`,
  `a\\b"c`,
  ",",
  " ",
  " a ",
  "a\nb",
  "é 漢 🌍",
  "'; --",
  "plain"
]
const project = ProjectId.make("default")

it("stores names, labels and numbers of a batch unchanged", async () => {
  const eventsOf = (seed: number) =>
    texts.map((text, n) =>
      Samples.appendEvent(Samples.eventId(n, seed), {
        agent: AgentName.make(`${text} agent`),
        agentVersion: AgentVersionName.make(text),
        person: n % 3 === 0 ? null : PersonId.make(text),
        session: SessionId.make(text),
        model: n % 2 === 0 ? text : null,
        providerStopReason: n % 5 === 0 ? null : text,
        price: n % 5 === 1 ? null : text,
        inputTokens: n % 4 === 0 ? null : 2 ** 31 - 1 - n,
        durationMs: [null, 0.1, 1e21, 5, -0.5][n % 5]!,
        httpStatus: n % 2 === 0 ? null : 200 + n,
        spanId: n % 3 === 0 ? null : SpanId.make(n.toString(16).padStart(16, "f")),
        traceId: n % 4 === 0 ? null : TraceId.make(n.toString(16).padStart(32, "f")),
        occurredAt: n % 2 === 0 ? null : DateTime.makeUnsafe(-n)
      })
    )
  // The first batch creates the names and the second reads them, in transactions; the third takes one statement.
  const batches = [eventsOf(0), eventsOf(1), eventsOf(2)]
  const read = await Effect.runPromise(
    Effect.gen(function* () {
      const storage = yield* Storage
      for (const batch of batches) yield* Samples.append(storage, batch)
      const listed = yield* storage.listEvents(project, { order: "asc", limit: 100 })
      const sessions = yield* Effect.forEach(texts, (text) =>
        storage.listEvents(project, { order: "asc", limit: 100, session: SessionId.make(text) })
      )
      return { listed, sessions }
    }).pipe(Effect.provide(PostgresStorage.layer(freshSchema())))
  )
  const stored = batches.map((batch) =>
    batch.map(({ checksums, rules, summary }) => ({ checksums, id: summary.id, rules, summary }))
  )
  expect(read.listed).toEqual(stored.flat())
  expect(read.sessions).toEqual(texts.map((_, n) => stored.map((each) => each[n])))
})
