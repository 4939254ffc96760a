/** Damage to sessions, and to the counters of sessions, agents and shared pieces. */
import { first, flipped, nowhere, ofSession, plus, remove, type RowDamage, update } from "./RowDamage.ts"
import type { Tables, Value } from "./Rows.ts"

const sessionCounter = (name: string, amount: number, session = "whole"): RowDamage => ({
  name: `the counter ${name} of a session is ${amount > 0 ? "greater" : "less"} by ${Math.abs(amount)}`,
  change: (tables) => {
    const [row] = ofSession(tables, "sessions", session)
    return [update("sessions", row!, { [name]: plus(row![name], amount) })]
  },
  problems: ["counter-wrong"]
})

const usageCounter = (name: string): RowDamage => ({
  name: `the counter ${name} of an agent in a session differs`,
  change: (tables) => {
    const [row] = ofSession(tables, "storage_usage", "swept")
    return [update("storage_usage", row!, { [name]: plus(row![name], 1) })]
  },
  problems: ["counter-wrong"]
})

const agentCounter = (name: string): RowDamage => ({
  name: `the counter ${name} of an agent differs`,
  change: ({ agent_usage: [row] }) => [update("agent_usage", row!, { [name]: plus(row![name], 1) })],
  problems: ["counter-wrong"]
})

const sharedCounter = (name: string): RowDamage => ({
  name: `the counter ${name} of shared pieces differs`,
  change: (tables) => {
    const row = first(tables.storage_usage, (each) => Number(each["session_number"]) === 0)
    return [update("storage_usage", row, { [name]: plus(row[name], -1) })]
  },
  problems: ["counter-wrong"]
})

const ofSteps = (
  name: string,
  column: string,
  to: (value: Value | undefined) => Value,
  problems: RowDamage["problems"] = ["step-damaged"]
): RowDamage => ({
  name,
  change: (tables) => {
    const [row] = ofSession(tables, "steps", "traced")
    return [update("steps", row!, { [column]: to(row![column]) })]
  },
  problems
})

/** The last pack of steps, which no other one needs. */
const packOfSteps = (tables: Tables) => ofSession(tables, "packs", "traced").at(-1)!

export const sessionDamages: ReadonlyArray<RowDamage> = [
  ofSteps("the start of a step differs", "occurred_at", (value) => plus(value, 1)),
  ofSteps("the trace of a step differs", "span_id", flipped),
  ofSteps("the agent of a step does not exist", "agent_number", () => nowhere),
  ofSteps("the text of a step begins elsewhere", "text_start", (value) => plus(value, 1)),
  ofSteps("a step names the pack of an event", "pack_number", () => 1, ["step-damaged", "steps-without-pack"]),
  ofSteps("a step names a session that does not exist", "session_number", () => nowhere, [
    ...(["session-missing", "step-damaged", "steps-without-pack"] as const)
  ]),
  {
    name: "the pack of steps is missing",
    change: (tables) => [remove("packs", packOfSteps(tables))],
    problems: ["counter-wrong", "step-damaged", "steps-without-pack"]
  },
  {
    name: "the pack of steps is marked as erased",
    change: (tables) => [update("packs", packOfSteps(tables), { kept: 0 })],
    problems: ["steps-without-pack", "texts-not-erased"]
  },
  {
    name: "the pack of steps is marked as one of an event",
    change: (tables) => [update("packs", packOfSteps(tables), { kept: 1 })],
    problems: ["pack-without-event", "steps-without-pack"]
  },
  {
    name: "the steps of a pack are missing",
    change: (tables) => {
      const { pack_number } = packOfSteps(tables)
      const steps = ofSession(tables, "steps", "traced").filter((row) => row["pack_number"] === pack_number)
      return steps.map((row) => remove("steps", row))
    },
    problems: ["pack-without-event"]
  },
  {
    name: "a session with texts of erased events is no longer pending",
    change: (tables) => [update("sessions", ofSession(tables, "sessions", "pending")[0]!, { pending_sweep: 0 })],
    problems: ["texts-not-erased"]
  },
  sessionCounter("packs", 1),
  sessionCounter("packs", -1),
  sessionCounter("packs", -1, "swept"),
  sessionCounter("history", 1),
  sessionCounter("history", -1),
  sessionCounter("parts", 1, "swept"),
  sessionCounter("parts", -1, "swept"),
  sessionCounter("erased_pieces", 1),
  sessionCounter("erased_pieces", -1, "swept"),
  sessionCounter("stored_bytes", 1),
  sessionCounter("ranked_bytes", 1_000_000),
  sessionCounter("ranked_bytes", -1_000_000),
  {
    name: "the name of a session differs",
    change: (tables) => [update("sessions", ofSession(tables, "sessions", "whole")[0]!, { session_id: "another" })],
    problems: ["event-damaged"],
    lost: "fields"
  },
  {
    name: "a session is missing",
    change: (tables) => [remove("sessions", ofSession(tables, "sessions", "whole")[0]!)],
    problems: ["event-damaged", "session-missing"],
    lost: "fields"
  },
  {
    name: "a session has no rows",
    change: (tables) => {
      const row = ofSession(tables, "sessions", "whole")[0]!
      return [
        {
          table: "sessions",
          from: undefined,
          to: { ...row, session_number: nowhere, session_id: "empty", packs: 0, history: 0, parts: 0 }
        }
      ]
    },
    problems: ["counter-wrong", "session-empty"]
  },
  usageCounter("entries"),
  usageCounter("sent_bytes"),
  usageCounter("new_bytes"),
  usageCounter("stored_bytes"),
  agentCounter("entries"),
  agentCounter("sent_bytes"),
  agentCounter("new_bytes"),
  agentCounter("stored_bytes"),
  sharedCounter("entries"),
  sharedCounter("sent_bytes"),
  sharedCounter("new_bytes"),
  sharedCounter("stored_bytes"),
  {
    name: "the counters of an agent in a session are missing",
    change: (tables) => [remove("storage_usage", ofSession(tables, "storage_usage", "whole")[0]!)],
    problems: ["counter-wrong"]
  },
  {
    name: "counters name a session that does not exist",
    change: (tables) => [
      { table: "storage_usage", from: undefined, to: { ...tables.storage_usage[0]!, session_number: nowhere } }
    ],
    problems: ["counter-wrong", "session-missing"]
  }
]
