/** Damage to agents, versions, people, fingerprints and kinds of events, and to the counters that number them. */
import { event, first, plus, remove, type RowDamage, update } from "./RowDamage.ts"
import type { Row, Tables } from "./Rows.ts"

/** The agent of events of the session in which no event was erased, and its version. */
const agent = (tables: Tables): Row =>
  first(tables.agents, (row) => row["agent_number"] === event(tables)["agent_number"])
const version = (tables: Tables): Row =>
  first(tables.agent_versions, (row) => row["agent_number"] === event(tables)["agent_number"])

/** The kind of one of these events. */
const kind = (tables: Tables): Row =>
  first(tables.event_kinds, (row) => row["kind_number"] === event(tables)["kind_number"])

export const nameDamages: ReadonlyArray<RowDamage> = [
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
    name: "the API of a kind differs",
    change: (tables) => [update("event_kinds", kind(tables), { api: (Number(kind(tables)["api"]) + 1) % 3 })],
    problems: ["event-damaged"],
    lost: "fields"
  },
  {
    name: "the price of a kind differs",
    change: (tables) => [update("event_kinds", kind(tables), { price_name: "another" })],
    problems: ["event-damaged"],
    lost: "fields"
  },
  {
    name: "the fingerprint of a kind differs",
    change: (tables) => [update("event_kinds", kind(tables), { fingerprint_id: event(tables)["event_id"]! })],
    problems: ["event-damaged", "fingerprint-missing"],
    lost: "fields"
  },
  {
    name: "the rules of a kind are empty",
    change: (tables) => [update("event_kinds", kind(tables), { rules: "" })],
    problems: ["counter-wrong"]
  },
  {
    name: "the rules of a kind differ",
    change: (tables) => [update("event_kinds", kind(tables), { rules: "2026-01-01" })],
    problems: ["counter-wrong"]
  },
  {
    name: "a kind is missing",
    change: (tables) => [remove("event_kinds", kind(tables))],
    problems: ["event-damaged"],
    lost: "fields"
  },
  {
    name: "a fingerprint is missing",
    change: (tables) => [remove("fingerprints", tables.fingerprints[0]!)],
    problems: ["fingerprint-missing"]
  }
]
