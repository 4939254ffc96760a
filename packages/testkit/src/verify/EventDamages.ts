/** Damage to events and packs. */
import type { Verifier } from "@tachograph/core"
import {
  event,
  first,
  flipped,
  nowhere,
  ofSession,
  plus,
  type Problem,
  remove,
  type RowDamage,
  update
} from "./RowDamage.ts"
import type { Row, Tables, Value } from "./Rows.ts"

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

export const eventDamages: ReadonlyArray<RowDamage> = [
  eventColumn("received_after", ({ received_after }) => plus(received_after, 1), "fields"),
  eventColumn("occurred_at", () => 1, "fields"),
  eventColumn("distant_at", () => 1, "fields"),
  eventColumn("duration_ms", () => 0.5, "fields"),
  eventColumn("first_token_ms", () => 0.5, "fields"),
  eventColumn("http_status", () => 200, "fields"),
  eventColumn("metadata", () => "{}", "texts"),
  eventColumn("agent_number", () => nowhere, "fields", ["counter-wrong"]),
  eventColumn("agent_version_number", () => nowhere, "fields"),
  eventColumn("person_number", () => nowhere, "fields"),
  eventColumn("inputs_bytes", ({ inputs_bytes }) => plus(inputs_bytes, 1), "fields", ["counter-wrong"]),
  eventColumn("output_bytes", ({ output_bytes }) => plus(output_bytes, -1), "fields", ["counter-wrong"]),
  eventColumn("input_tokens", () => 3, "fields"),
  eventColumn("output_tokens", () => 3, "fields"),
  eventColumn("summary_checksum", ({ summary_checksum }) => -plus(summary_checksum, 1), "fields"),
  eventColumn("texts_checksum", ({ texts_checksum }) => -plus(texts_checksum, 1), "texts"),
  eventColumn("kind_number", () => nowhere, "fields"),
  eventColumn("model", () => "m", "fields"),
  eventColumn("provider", () => "?", "fields"),
  eventColumn("response_model", () => "m", "fields"),
  eventColumn("cache_read_tokens", () => 3, "fields"),
  eventColumn("stop_reason", () => 2, "fields"),
  eventColumn("provider_stop_reason", () => "=end", "fields"),
  eventColumn("tool_calls", () => "t", "fields"),
  eventColumn("error_type", () => "e", "fields"),
  eventColumn("cost", () => 3, "fields"),
  eventColumn("stated_cost", () => 3, "fields"),
  eventColumn("recorded", () => `{"redacted":2}`, "fields"),
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
  }
]
