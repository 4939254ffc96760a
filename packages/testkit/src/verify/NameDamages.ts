/** Damage to agents, versions, people and fingerprints, and to the counters that number them. */
import { event, first, plus, remove, type RowDamage, update } from "./RowDamage.ts"
import type { Row, Tables } from "./Rows.ts"

/** The agent of events of the session in which no event was erased, and its version. */
const agent = (tables: Tables): Row =>
  first(tables.agents, (row) => row["agent_number"] === event(tables)["agent_number"])
const version = (tables: Tables): Row =>
  first(tables.agent_versions, (row) => row["agent_number"] === event(tables)["agent_number"])

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
    name: "a fingerprint is missing",
    change: (tables) => [remove("fingerprints", tables.fingerprints[0]!)],
    problems: ["fingerprint-missing"]
  }
]
