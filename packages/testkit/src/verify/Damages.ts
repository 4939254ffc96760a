/** Each kind of damage to a row, and what a verification says of it. */
import type { Verifier } from "@tachograph/core"
import type { Change, Row, Table, Tables, Value } from "./Rows.ts"

type Problem = Verifier.Problem

export interface Damage {
  readonly name: string
  /** Of the store of `Store`. */
  readonly change: (tables: Tables) => ReadonlyArray<Change>
  readonly problems: ReadonlyArray<Problem>
  /** Of the damaged events, if there are any. */
  readonly lost?: Verifier.Lost
}

const first = <A>(rows: ReadonlyArray<A>, isWanted: (row: A) => boolean): A => {
  const row = rows.find(isWanted)
  if (row === undefined) throw new Error("The store has no such row")
  return row
}

/** Rows of the session of this name. */
const ofSession = (tables: Tables, table: Table, name: string) => {
  const { project_id, session_number } = first(tables.sessions, (row) => row["session_id"] === name)
  return tables[table].filter((row) => row["project_id"] === project_id && row["session_number"] === session_number)
}

const update = (table: Table, from: Row, columns: Row): Change => ({ table, from, to: { ...from, ...columns } })
const remove = (table: Table, from: Row): Change => ({ table, from, to: undefined })

const flipped = (value: Value | undefined, at = 0.5): Uint8Array => {
  const bytes = Buffer.from(value as Uint8Array)
  bytes[Math.floor(at * bytes.length)]! ^= 1
  return bytes
}

const plus = (value: Value | undefined, amount: number): number => Number(value) + amount

/** One event of a session in which no event was erased. */
const event = (tables: Tables) => ofSession(tables, "events", "whole")[5]!

/** A change of one column of an event. */
const eventColumn = (
  name: string,
  value: (event: Row) => Value,
  lost: Verifier.Lost,
  more: ReadonlyArray<Problem> = []
) => ({
  name: `the column ${name} of an event differs`,
  change: (tables: Tables) => [update("events", event(tables), { [name]: value(event(tables)) })],
  problems: ["event-damaged", ...more] as ReadonlyArray<Problem>,
  lost
})

const sessionCounter = (name: string, amount: number, session = "whole"): Damage => ({
  name: `the counter ${name} of a session is ${amount > 0 ? "greater" : "less"} by ${Math.abs(amount)}`,
  change: (tables) => {
    const [row] = ofSession(tables, "sessions", session)
    return [update("sessions", row!, { [name]: plus(row![name], amount) })]
  },
  problems: ["counter-wrong"]
})

const usageCounter = (name: string): Damage => ({
  name: `the counter ${name} of an agent in a session differs`,
  change: (tables) => {
    const [row] = ofSession(tables, "storage_usage", "swept")
    return [update("storage_usage", row!, { [name]: plus(row![name], 1) })]
  },
  problems: ["counter-wrong"]
})

const agentCounter = (name: string): Damage => ({
  name: `the counter ${name} of an agent differs`,
  change: ({ agent_usage: [row] }) => [update("agent_usage", row!, { [name]: plus(row![name], 1) })],
  problems: ["counter-wrong"]
})

const sharedCounter = (name: string): Damage => ({
  name: `the counter ${name} of shared pieces differs`,
  change: (tables) => {
    const row = first(tables.storage_usage, (each) => Number(each["session_number"]) === 0)
    return [update("storage_usage", row, { [name]: plus(row[name], -1) })]
  },
  problems: ["counter-wrong"]
})

/** A shared piece that several sessions of the project own. */
const sharedPiece = (tables: Tables): Row => {
  const owners = (row: Row) =>
    tables.shared_piece_owners.filter(
      (each) => hex(each["sha256"]) === hex(row["sha256"]) && each["project_id"] === row["project_id"]
    )
  return first(tables.shared_pieces, (row) => owners(row).length > 2)
}

const hex = (value: Value | undefined): string => Buffer.from(value as Uint8Array).toString("hex")

/** The agent of events of the session in which no event was erased, and its version. */
const agent = (tables: Tables): Row =>
  first(tables.agents, (row) => row["agent_number"] === event(tables)["agent_number"])
const version = (tables: Tables): Row =>
  first(tables.agent_versions, (row) => row["agent_number"] === event(tables)["agent_number"])

const nowhere = 1_000_000

export const damages: ReadonlyArray<Damage> = [
  eventColumn("received_at", ({ received_at }) => plus(received_at, 1), "fields"),
  eventColumn("occurred_at", () => 1, "fields"),
  eventColumn("duration_ms", () => 0.5, "fields"),
  eventColumn("agent_number", () => nowhere, "fields", ["counter-wrong"]),
  eventColumn("agent_version_number", () => nowhere, "fields"),
  eventColumn("person_number", () => nowhere, "fields"),
  eventColumn("inputs_bytes", ({ inputs_bytes }) => plus(inputs_bytes, 1), "fields", ["counter-wrong"]),
  eventColumn("output_bytes", ({ output_bytes }) => plus(output_bytes, -1), "fields", ["counter-wrong"]),
  eventColumn("input_tokens", () => 3, "fields"),
  eventColumn("output_tokens", () => 3, "fields"),
  eventColumn("summary_checksum", ({ summary_checksum }) => -plus(summary_checksum, 1), "fields"),
  eventColumn("texts_checksum", ({ texts_checksum }) => -plus(texts_checksum, 1), "texts"),
  eventColumn("api", ({ api }) => (Number(api) + 1) % 3, "fields"),
  eventColumn("model", () => "m", "fields"),
  eventColumn("stop_reason", () => "end", "fields"),
  eventColumn("pack_number", ({ pack_number }) => plus(pack_number, 1), "texts", ["pack-without-event"]),
  eventColumn("session_number", () => nowhere, "fields and texts", [
    "counter-wrong",
    "event-without-pack",
    "pack-without-event",
    "session-missing"
  ]),
  {
    name: "the id of an event differs",
    change: (tables) => {
      const { event_id } = event(tables)
      const id =
        typeof event_id === "string"
          ? event_id.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"))
          : flipped(event_id!, 0.99)
      return [update("events", event(tables), { event_id: id })]
    },
    problems: ["event-damaged"],
    lost: "fields"
  },
  {
    name: "the fingerprint of an event differs",
    change: (tables) => [
      update("events", event(tables), { fingerprint_id: first(tables.events, () => true)["event_id"]! })
    ],
    problems: ["event-damaged", "fingerprint-missing"],
    lost: "fields"
  },
  {
    name: "an event is missing",
    change: (tables) => [remove("events", event(tables))],
    problems: ["counter-wrong", "pack-without-event"]
  },
  {
    name: "one bit of a pack differs",
    change: (tables) => {
      const row = ofSession(tables, "packs", "whole")[4]!
      return [update("packs", row, { pack: flipped(row["pack"]) })]
    },
    problems: ["event-damaged", "pack-damaged"],
    lost: "texts"
  },
  {
    name: "one bit of a pack without an event differs",
    change: (tables) => {
      const row = first(ofSession(tables, "packs", "swept"), (each) => Number(each["kept"]) === 0)
      return [update("packs", row, { pack: flipped(row["pack"]) })]
    },
    problems: ["event-damaged", "pack-damaged"],
    lost: "texts"
  },
  {
    name: "a pack is missing",
    change: (tables) => [remove("packs", ofSession(tables, "packs", "whole")[4]!)],
    problems: ["counter-wrong", "event-damaged", "event-without-pack", "pack-damaged"],
    lost: "texts"
  },
  {
    name: "a pack is of another session",
    change: (tables) => [update("packs", ofSession(tables, "packs", "whole").at(-1)!, { session_number: nowhere })],
    problems: [
      "counter-wrong",
      "event-damaged",
      "event-without-pack",
      "pack-damaged",
      "pack-without-event",
      "session-missing"
    ],
    lost: "texts"
  },
  {
    name: "a pack is of another agent",
    change: (tables) => [update("packs", ofSession(tables, "packs", "whole")[3]!, { agent_number: nowhere })],
    problems: ["counter-wrong"]
  },
  {
    name: "a pack with an event is marked as erased",
    change: (tables) => [update("packs", ofSession(tables, "packs", "whole")[3]!, { kept: 0 })],
    problems: ["event-without-pack", "texts-not-erased"]
  },
  {
    name: "a pack without an event is not marked as erased",
    change: (tables) => {
      const row = first(ofSession(tables, "packs", "swept"), (each) => Number(each["kept"]) === 0)
      return [update("packs", row, { kept: 1 })]
    },
    problems: ["pack-without-event"]
  },
  {
    name: "a session with texts of erased events is not pending any more",
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
  },
  {
    name: "one bit of a shared piece differs",
    change: (tables) => [
      update("shared_pieces", sharedPiece(tables), { piece: flipped(sharedPiece(tables)["piece"]) })
    ],
    problems: ["event-damaged", "shared-piece-damaged"],
    lost: "texts"
  },
  {
    name: "the size of a shared piece differs",
    change: (tables) => [update("shared_pieces", sharedPiece(tables), { size: plus(sharedPiece(tables)["size"], 1) })],
    problems: ["counter-wrong", "shared-piece-damaged"]
  },
  {
    name: "the name of a shared piece differs",
    change: (tables) => [
      update("shared_pieces", sharedPiece(tables), { sha256: flipped(sharedPiece(tables)["sha256"]) })
    ],
    problems: ["event-damaged", "shared-piece-damaged", "shared-piece-missing", "shared-piece-without-owner"],
    lost: "texts"
  },
  {
    name: "a shared piece is missing",
    change: (tables) => [remove("shared_pieces", sharedPiece(tables))],
    problems: ["counter-wrong", "event-damaged", "shared-piece-missing"],
    lost: "texts"
  },
  {
    name: "a shared piece has no owner",
    change: (tables) =>
      tables.shared_piece_owners
        .filter((row) => hex(row["sha256"]) === hex(sharedPiece(tables)["sha256"]))
        .map((row) => remove("shared_piece_owners", row)),
    problems: ["shared-piece-not-owned", "shared-piece-without-owner"]
  },
  {
    name: "a session does not own a shared piece that it refers to",
    change: (tables) => {
      const name = hex(sharedPiece(tables)["sha256"])
      const owners = ofSession(tables, "shared_piece_owners", "whole")
      return [
        remove(
          "shared_piece_owners",
          first(owners, (row) => hex(row["sha256"]) === name)
        )
      ]
    },
    problems: ["shared-piece-not-owned"]
  },
  {
    name: "a session owns a shared piece that it does not refer to",
    change: (tables) => {
      const owned = ofSession(tables, "shared_piece_owners", "whole")
      const names = new Set(owned.map((row) => hex(row["sha256"])))
      const { project_id } = owned[0]!
      const { sha256 } = first(
        tables.shared_pieces,
        (row) => row["project_id"] === project_id && !names.has(hex(row["sha256"]))
      )
      return [{ table: "shared_piece_owners", from: undefined, to: { ...owned[0]!, sha256: sha256! } }]
    },
    problems: ["shared-piece-unused"]
  },
  {
    name: "a session that does not exist owns a shared piece",
    change: (tables) => {
      const [row] = ofSession(tables, "shared_piece_owners", "whole")
      return [{ table: "shared_piece_owners", from: undefined, to: { ...row!, session_number: nowhere } }]
    },
    problems: ["session-missing"]
  },
  {
    name: "the name of an agent differs",
    change: (tables) => [update("agents", agent(tables), { agent_name: "another" })],
    problems: ["event-damaged"],
    lost: "fields"
  },
  {
    name: "the name of a version differs",
    change: (tables) => [update("agent_versions", version(tables), { agent_version_name: "another" })],
    problems: ["event-damaged"],
    lost: "fields"
  },
  {
    name: "the name of a person differs",
    change: (tables) => [
      update(
        "people",
        first(tables.people, (row) => row["person_id"] === "alice"),
        { person_id: "another" }
      )
    ],
    problems: ["event-damaged"],
    lost: "fields"
  },
  {
    name: "an agent is missing",
    change: (tables) => [remove("agents", agent(tables))],
    problems: ["counter-wrong", "event-damaged"],
    lost: "fields"
  },
  {
    name: "the last number of agents differs",
    change: (tables) => [update("projects", tables.projects[0]!, { agents: plus(tables.projects[0]!["agents"], -1) })],
    problems: ["counter-wrong"]
  },
  {
    name: "the last number of people is too low",
    change: (tables) => [update("projects", tables.projects[0]!, { people: 0 })],
    problems: ["counter-wrong"]
  },
  {
    name: "the last number of sessions is too low",
    change: (tables) => [update("projects", tables.projects[0]!, { sessions: 0 })],
    problems: ["counter-wrong"]
  },
  {
    name: "the last number of versions differs",
    change: (tables) => [update("agents", tables.agents[0]!, { versions: plus(tables.agents[0]!["versions"], 1) })],
    problems: ["counter-wrong"]
  },
  {
    name: "a fingerprint is missing",
    change: (tables) => [remove("fingerprints", tables.fingerprints[0]!)],
    problems: ["fingerprint-missing"]
  }
]
