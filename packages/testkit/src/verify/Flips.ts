/** Changes of single bits, in any column that a verification covers. */
import { Uuid } from "@tachograph/core"
import fc from "fast-check"
import type { Change, Row, Table, Tables, Value } from "./Rows.ts"

type Kind = "bytes" | "integer" | "real" | "text" | "uuid"

interface Column {
  readonly table: Table
  readonly column: string
  readonly kind: Kind
  /**
   * Whether a verification finds every change of it. Not of bytes that are compressed, in which some bits mean nothing, and
   * not of counters that erasures leave higher than what they count.
   */
  readonly isAlwaysFound: boolean
}

const columnsOf = (
  table: Table,
  isAlwaysFound: boolean,
  columns: Readonly<Partial<Record<Kind, ReadonlyArray<string>>>>
): ReadonlyArray<Column> =>
  (Object.entries(columns) as Array<[Kind, ReadonlyArray<string>]>).flatMap(([kind, names]) =>
    names.map((column) => ({ table, column, kind, isAlwaysFound }))
  )

const columns: ReadonlyArray<Column> = [
  ...columnsOf("events", true, {
    integer: [
      ...["project_id", "session_number", "agent_number", "agent_version_number", "person_number", "pack_number"],
      ...[
        "kind_number",
        "received_after",
        "occurred_at",
        "distant_at",
        "inputs_bytes",
        "output_bytes",
        "input_tokens",
        "output_tokens"
      ],
      ...["cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "stop_reason", "error_status", "cost"],
      ...["summary_checksum", "texts_checksum"]
    ],
    real: ["duration_ms"],
    text: ["provider", "model", "response_model", "provider_stop_reason", "tool_calls", "error_type", "error_code"],
    uuid: ["event_id"]
  }),
  ...columnsOf("event_kinds", true, {
    integer: ["project_id", "kind_number", "api", "unpriced"],
    text: ["price_name"],
    uuid: ["fingerprint_id"]
  }),
  ...columnsOf("packs", true, { integer: ["project_id", "session_number", "pack_number", "agent_number"] }),
  ...columnsOf("packs", false, { bytes: ["pack"] }),
  ...columnsOf("steps", true, {
    integer: [
      ...["session_number", "agent_number", "agent_version_number", "person_number", "pack_number"],
      ...["occurred_at", "received_at", "text_start", "text_bytes", "checksum"]
    ],
    bytes: ["span_id"],
    uuid: ["trace_id"]
  }),
  // The other steps of its pack remain.
  ...columnsOf("steps", false, { integer: ["project_id"] }),
  ...columnsOf("sessions", true, {
    integer: ["project_id", "session_number", "erased_pieces", "stored_bytes"],
    text: ["session_id"]
  }),
  ...columnsOf("sessions", false, { integer: ["packs", "history", "parts", "generation", "ranked_bytes"] }),
  ...columnsOf("shared_pieces", true, { integer: ["project_id", "size", "checksum"], bytes: ["sha256"] }),
  ...columnsOf("shared_pieces", false, { bytes: ["piece"] }),
  ...columnsOf("shared_piece_owners", true, { integer: ["project_id", "session_number"], bytes: ["sha256"] }),
  ...columnsOf("storage_usage", true, {
    integer: ["project_id", "session_number", "agent_number", "entries", "sent_bytes", "new_bytes", "stored_bytes"]
  }),
  ...columnsOf("agent_usage", true, {
    integer: ["project_id", "agent_number", "entries", "sent_bytes", "new_bytes", "stored_bytes"]
  })
]

/** The bytes that hold texts, in which most of a store's bits are. */
const ofTexts = columns.filter(({ column }) => column === "pack" || column === "piece")

export interface Flip extends Column {
  /** Selects a row, a byte and a bit. */
  readonly row: number
  readonly at: number
  readonly bit: number
}

const place = fc.record({
  row: fc.nat(),
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  bit: fc.integer({ min: 0, max: 7 })
})

/** How many columns are changed at once, in turns. */
const columnsAtOnce = [1, 3, 5]

/** Arrays of flips: of every column before any occurs again, and of the bytes of texts with most of them. */
export const dealt = function* (
  random: (below: number) => number
): Generator<fc.Arbitrary<ReadonlyArray<Flip>>, never> {
  const deck: Array<Column> = []
  for (let n = 0; ; n++) {
    const hand: Array<Column> = []
    while (hand.length < columnsAtOnce[n % columnsAtOnce.length]!) {
      if (deck.length === 0) deck.push(...columns)
      hand.push(...deck.splice(random(deck.length), 1))
    }
    const texts = hand.length === 1 ? [] : [ofTexts[random(ofTexts.length)]!]
    yield fc.tuple(...[...hand, ...texts].map((column) => place.map((at) => ({ ...column, ...at }))))
  }
}

const flipBit = (value: Uint8Array, { at, bit }: Flip): Buffer => {
  const bytes = Buffer.from(value)
  bytes[Math.floor(at * bytes.length)]! ^= 1 << bit
  return bytes
}

const changed = (value: Value | undefined, flip: Flip): Value => {
  const { at, bit, kind } = flip
  switch (kind) {
    case "bytes":
      return flipBit(value as Uint8Array, flip)
    case "integer":
      return Number(value ?? 0) ^ (1 << Math.floor(at * 13))
    case "real":
      return Number(value ?? 0) + 2 ** -bit
    case "text": {
      const text = (value as string | null) ?? "x"
      const index = Math.floor(at * text.length)
      const code = text.charCodeAt(index) ^ (1 << (bit % 5))
      return text.slice(0, index) + String.fromCharCode(code === 0 ? 0x7f : code) + text.slice(index + 1)
    }
    case "uuid": {
      const bytes = typeof value === "string" ? Uuid.toBytes(value) : (value as Uint8Array)
      const other = flipBit(bytes, flip)
      return typeof value === "string" ? Uuid.fromBytes(other) : other
    }
  }
}

/** Changes of distinct rows. A row can have several flips. */
export const changesOf = (tables: Tables, flips: ReadonlyArray<Flip>): ReadonlyArray<Change> => {
  const changes = new Map<Row, Change>()
  for (const flip of flips) {
    const rows = tables[flip.table]
    const from = rows[flip.row % rows.length]!
    const row = changes.get(from)?.to ?? from
    changes.set(from, { table: flip.table, from, to: { ...row, [flip.column]: changed(row[flip.column], flip) } })
  }
  return Array.from(changes.values())
}

const keysOfEvent = ["event_id", "project_id"]

/**
 * The stored ids of events that have a flip in a value of their own: reads refuse each of them. The numbers of other rows do not count,
 * because another flip can give that row the same number.
 */
export const refusedBy = (tables: Tables, flips: ReadonlyArray<Flip>): ReadonlyArray<Value> => {
  const ofEvents = flips.filter(({ table }) => table === "events")
  const rowOf = ({ row }: Flip) => tables.events[row % tables.events.length]!
  const moved = new Set(ofEvents.filter(({ column }) => keysOfEvent.includes(column)).map(rowOf))
  const changed = new Set(ofEvents.filter(({ column }) => !column.endsWith("_number")).map(rowOf))
  return Array.from(changed).flatMap((row) => (moved.has(row) ? [] : [row["event_id"]!]))
}

/** The number of arrays of flips after which each column has been changed. */
export const everyColumn = Math.ceil((columnsAtOnce.length * columns.length) / columnsAtOnce.reduce((a, b) => a + b))
